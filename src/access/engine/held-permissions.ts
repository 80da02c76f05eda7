import { activeSubject, findGrant } from "./find-grant.ts";
import { type NamedPermissions, differenceOf, unionOf } from "./named-permissions.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";

/** What is gained and lost between two sets of roles. */
export interface Delta {
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Whether it is held, before or after, under a condition only. */
  readonly isConditional: boolean;
}

/** What a member holds somewhere. */
interface Held {
  readonly always: NamedPermissions;
  /** With what it holds under a condition. */
  readonly atMost: NamedPermissions;
}

/** Compares what members hold before a change with what they hold after it, each told by a text. */
export interface HeldPermissions {
  /** To be called while the snapshot is as before the change. */
  readonly before: (member: number, resource: Resource) => string;
  /** To be called while the snapshot is as after it. */
  readonly after: (member: number, resource: Resource) => string;
  /** At most two: what is held always, and what has to do with a condition. */
  readonly compare: (before: string, after: string) => readonly Delta[];
}

const none = unionOf([]);
const nothing: Held = { always: none, atMost: none };

/**
 * Most of those whom a change concerns hold the same before it, and the same after it. So each set of roles is looked into
 * once, and so is each pair of them.
 *
 * @param permissions those that there are beside the ones that roles name.
 */
export function createHeldPermissions(
  snapshot: OrgSnapshot,
  now: number,
  permissions: readonly string[],
): HeldPermissions {
  const { bindings, roles } = snapshot;
  const known = new Set(permissions);
  const heldBefore = new Map<string, Held>();
  const heldAfter = new Map<string, Held>();
  const deltas = new Map<string, readonly Delta[]>();

  const look = (held: Map<string, Held>, member: number, resource: Resource): string => {
    const subject = activeSubject(snapshot, { kind: "member", record: member });
    if (subject === undefined) return "";
    const always = new Set<number>();
    const conditional = new Set<number>();
    findGrant(snapshot, subject, resource, now, (binding) => {
      (bindings.isConditional(binding) ? conditional : always).add(bindings.roleOf(binding));
      return false;
    });
    const key = `${inOrder(always).join("+")}?${inOrder(conditional).join("+")}`;
    if (!held.has(key)) {
      const unconditional = unionOf([...always].map(roles.permissionsOf));
      const atMost = unionOf([unconditional, ...[...conditional].map(roles.permissionsOf)]);
      held.set(key, { always: unconditional, atMost });
      for (const permission of roles.permissions.names()) known.add(permission);
    }
    return key;
  };

  return {
    before: (member, resource) => look(heldBefore, member, resource),
    after: (member, resource) => look(heldAfter, member, resource),

    compare(before, after) {
      const key = `${before} ${after}`;
      let found = deltas.get(key);
      if (found === undefined) {
        found = deltasBetween(heldBefore.get(before) ?? nothing, heldAfter.get(after) ?? nothing, known);
        deltas.set(key, found);
      }
      return found;
    },
  };
}

function inOrder(records: ReadonlySet<number>): number[] {
  return [...records].toSorted((one, other) => one - other);
}

function deltasBetween(before: Held, after: Held, known: ReadonlySet<string>): readonly Delta[] {
  const gained = differenceOf(after.always, before.atMost, known);
  const lost = differenceOf(before.always, after.atMost, known);
  const moreThan = (one: Held, other: Held, told: readonly string[]): string[] => {
    const more = [...differenceOf(one.atMost, other.atMost, known), ...differenceOf(one.always, other.always, known)];
    return [...new Set(more)].filter((permission) => !told.includes(permission));
  };
  const deltas = [
    { gained, lost, isConditional: false },
    { gained: moreThan(after, before, gained), lost: moreThan(before, after, lost), isConditional: true },
  ];
  return deltas
    .filter((delta) => delta.gained.length + delta.lost.length > 0)
    .map((delta) => ({ ...delta, gained: delta.gained.toSorted(), lost: delta.lost.toSorted() }));
}
