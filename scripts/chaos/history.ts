// What the load knows to be so: the writes that it has made, and what must be there because of them.

export const kinds = ["projects", "groups", "members"] as const;

/** A collection of an org whose resources the load creates, updates and deletes. */
export type Kind = (typeof kinds)[number];

/** A resource. Nobody else changes it. */
export interface Thing {
  readonly kind: Kind;
  readonly name: string;
  /** The descriptions that it may have; undefined if it may be absent. One, if all its writes were answered. */
  possible: (string | undefined)[];
}

/** A write, which the change log shows once for each of its resources. */
export interface Write {
  /** The description that it has written. No other write has the same. */
  readonly mark: string;
  /** How many resources have it. */
  readonly resources: number;
  /** Whether it was answered. Otherwise it is there as a whole or not at all. */
  readonly isSure: boolean;
}

/** A role that was granted or revoked, or a membership that was added or removed. */
export interface Grant {
  /** The collection, as a path: `/orgs/acme/roleBindings`. */
  readonly collection: string;
  readonly name: string;
  /** Undefined if its last change was never answered. Then nobody changes it again. */
  isThere: boolean | undefined;
}

export interface History {
  readonly things: Thing[];
  /** Things that one call was to delete, which has not answered: all of them are there, or none. */
  readonly together: (readonly Thing[])[];
  readonly writes: Write[];
  readonly grants: Grant[];
}

export function createHistory(): History {
  return { things: [], together: [], writes: [], grants: [] };
}

/** Whether it is known what the resource is. Only such ones are changed again. */
export function isKnown(thing: Thing): boolean {
  return thing.possible.length === 1;
}

/** Whether the resource is there, for all that is known. */
export function isThere(thing: Thing): boolean {
  return thing.possible.length === 1 && thing.possible[0] !== undefined;
}
