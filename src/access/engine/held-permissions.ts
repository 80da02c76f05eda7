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
  /** By the condition under which it is held. */
  readonly under: ReadonlyMap<string, NamedPermissions>;
}

/** Compares what members hold before a change with what they hold after it, each told by a text. */
export interface HeldPermissions {
  /** To be called while the snapshot is as before the change. */
  readonly before: (member: number, resource: Resource, now: number) => string;
  /** To be called while the snapshot is as after it. */
  readonly after: (member: number, resource: Resource, now: number) => string;
  /** At most two: what is held always, and what has to do with a condition. */
  readonly compare: (before: string, after: string) => readonly Delta[];
}

const none = unionOf([]);
const nothing: Held = { always: none, under: new Map() };

/**
 * Most of those whom a change concerns hold the same before it, and the same after it. So each set of roles is looked into
 * once, and so is each pair of them.
 *
 * @param permissions those that there are beside the ones that roles name.
 */
export function createHeldPermissions(snapshot: OrgSnapshot, permissions: readonly string[]): HeldPermissions {
  const { bindings, roles } = snapshot;
  const known = new Set(permissions);
  const heldBefore = new Map<string, Held>();
  const heldAfter = new Map<string, Held>();
  const deltas = new Map<string, readonly Delta[]>();

  const look = (held: Map<string, Held>, member: number, resource: Resource, now: number): string => {
    const subject = activeSubject(snapshot, { kind: "member", record: member });
    if (subject === undefined) return "";
    const found = new Map<string, Set<number>>();
    findGrant(snapshot, subject, resource, now, (binding) => {
      const condition = bindings.conditionOf(binding);
      const ofCondition = found.get(condition);
      if (ofCondition === undefined) found.set(condition, new Set([bindings.roleOf(binding)]));
      else ofCondition.add(bindings.roleOf(binding));
      return false;
    });
    const key = keyOf(found);
    if (!held.has(key)) {
      const named = new Map(
        [...found].map(([condition, records]) => [condition, unionOf([...records].map(roles.permissionsOf))]),
      );
      const always = named.get("") ?? none;
      named.delete("");
      held.set(key, { always, under: named });
      for (const permission of roles.permissions.names()) known.add(permission);
    }
    return key;
  };

  return {
    before: (member, resource, now) => look(heldBefore, member, resource, now),
    after: (member, resource, now) => look(heldAfter, member, resource, now),

    compare(before, after) {
      const key = JSON.stringify([before, after]);
      let found = deltas.get(key);
      if (found === undefined) {
        found = deltasBetween(heldBefore.get(before) ?? nothing, heldAfter.get(after) ?? nothing, known);
        deltas.set(key, found);
      }
      return found;
    },
  };
}

/** The roles, by condition. */
function keyOf(found: ReadonlyMap<string, ReadonlySet<number>>): string {
  const parts = [...found].map(([condition, records]) => {
    const roles = records.size === 1 ? [...records] : [...records].toSorted((one, other) => one - other);
    return `${roles.join("+")}?${condition}`;
  });
  return parts.length < 2 ? (parts[0] ?? "-") : JSON.stringify(parts.toSorted());
}

function deltasBetween(before: Held, after: Held, known: ReadonlySet<string>): readonly Delta[] {
  const gained = differenceOf(after.always, atMost(before), known);
  const lost = differenceOf(before.always, atMost(after), known);
  const deltas = [
    { gained, lost, isConditional: false },
    {
      gained: moreUnderConditions(after, before, known).filter((permission) => !gained.includes(permission)),
      lost: moreUnderConditions(before, after, known).filter((permission) => !lost.includes(permission)),
      isConditional: true,
    },
  ];
  return deltas
    .filter((delta) => delta.gained.length + delta.lost.length > 0)
    .map((delta) => ({ ...delta, gained: delta.gained.toSorted(), lost: delta.lost.toSorted() }));
}

function atMost({ always, under }: Held): NamedPermissions {
  return unionOf([always, ...under.values()]);
}

/** What one holds always or under a condition, and the other does not hold so, nor always. */
function moreUnderConditions(one: Held, other: Held, known: ReadonlySet<string>): string[] {
  const more = new Set(differenceOf(one.always, other.always, known));
  for (const [condition, permissions] of one.under) {
    const rest = unionOf([one.always, other.always, other.under.get(condition) ?? none]);
    for (const permission of differenceOf(permissions, rest, known)) more.add(permission);
  }
  return [...more];
}
