import { activeSubject, findGrant } from "./find-grant.ts";
import {
  type Difference,
  type NamedPermissions,
  describeDifference,
  differenceOf,
  differenceWithout,
  unionOf,
} from "../tables/named-permissions.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { TargetScope } from "./target-scope.ts";

/** The permissions that are gained and lost between two sets of roles, with wildcards for those that nothing names yet. */
export interface Delta {
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Whether the permissions are held, before or after, only under a condition. */
  readonly isConditional: boolean;
}

interface Effective {
  readonly always: NamedPermissions;
  /** By the condition under which they are held. */
  readonly under: ReadonlyMap<string, NamedPermissions>;
}

/** Compares what members hold before a change with what they hold after it. A text identifies what a member holds. */
export interface EffectivePermissions {
  /** Must be called while the snapshot is in the state before the change. */
  readonly before: (member: number, resource: TargetScope, now: number) => string;
  /** Must be called while the snapshot is in the state after the change. */
  readonly after: (member: number, resource: TargetScope, now: number) => string;
  /** Returns at most two deltas: one for unconditional permissions, and one for permissions that depend on a condition. */
  readonly compare: (before: string, after: string) => readonly Delta[];
}

const none = unionOf([]);
const nothing: Effective = { always: none, under: new Map() };

/**
 * Creates the comparison. Most members that a change affects hold the same roles before it, and the same after it. So each set
 * of roles, and each pair of sets, is evaluated once.
 *
 * @param permissions the known permissions, besides those that roles name.
 */
export function createEffectivePermissions(
  snapshot: OrgSnapshot,
  permissions: readonly string[],
): EffectivePermissions {
  const { bindings, roles } = snapshot;
  const known = new Set(permissions);
  const heldBefore = new Map<string, Effective>();
  const heldAfter = new Map<string, Effective>();
  const deltas = new Map<string, readonly Delta[]>();

  const look = (held: Map<string, Effective>, member: number, resource: TargetScope, now: number): string => {
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

function keyOf(found: ReadonlyMap<string, ReadonlySet<number>>): string {
  const parts = [...found].map(([condition, records]) => {
    const roles = records.size === 1 ? [...records] : [...records].toSorted((one, other) => one - other);
    return `${roles.join("+")}?${condition}`;
  });
  return parts.length < 2 ? (parts[0] ?? "-") : JSON.stringify(parts.toSorted());
}

function deltasBetween(before: Effective, after: Effective, known: ReadonlySet<string>): readonly Delta[] {
  const gained = differenceOf(after.always, atMost(before), known);
  const lost = differenceOf(before.always, atMost(after), known);
  const deltas = [
    { gained, lost, isConditional: false },
    {
      gained: differenceWithout(moreUnderConditions(after, before, known), gained),
      lost: differenceWithout(moreUnderConditions(before, after, known), lost),
      isConditional: true,
    },
  ];
  return deltas
    .map((delta) => ({ ...delta, gained: describeDifference(delta.gained), lost: describeDifference(delta.lost) }))
    .filter((delta) => delta.gained.length + delta.lost.length > 0);
}

function atMost({ always, under }: Effective): NamedPermissions {
  return unionOf([always, ...under.values()]);
}

/**
 * Returns what `one` holds, unconditionally or under a condition, and `other` holds neither unconditionally nor in the same
 * way.
 */
function moreUnderConditions(one: Effective, other: Effective, known: ReadonlySet<string>): Difference[] {
  const underEach = [...one.under].map(([condition, permissions]) => {
    const rest = unionOf([one.always, other.always, other.under.get(condition) ?? none]);
    return differenceOf(permissions, rest, known);
  });
  return [differenceOf(one.always, other.always, known), ...underEach];
}
