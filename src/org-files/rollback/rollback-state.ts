// What a rollback is planned from, and the parts of its plan.
import type { PlannedChange } from "../planned-change.ts";
import type { Wanted } from "./find-wanted.ts";
import type { Side, SideResource, Sides } from "./read-sides.ts";

/** What changes are made of. */
export interface RollbackState {
  readonly sides: Sides;
  readonly wanted: Wanted["resources"];
  readonly standing: Side;
  /** What is removed, also together with something else. */
  readonly removed: Side;
  readonly isProtected: (resource: SideResource) => boolean;
  readonly nowMs: number;
  /** Returns a path with names. */
  readonly shown: (path: string) => string;
  /** Returns a path, or a reference, for calls: by ids, but for what is created again, which gets another id. */
  readonly called: (path: string) => string;
}

/** What goes with something that is deleted. Its paths have names. */
export interface Implied {
  readonly path: string;
  readonly withPath: string;
}

/** The changes of resources, but for those of names and states. */
export interface Contents {
  readonly creations: readonly PlannedChange[];
  readonly updates: readonly PlannedChange[];
  readonly deletions: readonly PlannedChange[];
  readonly implied: readonly Implied[];
  /** The ids of projects in which something changes. */
  readonly changedProjects: ReadonlySet<string>;
}
