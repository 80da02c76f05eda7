import type { AccessQuery } from "./decide.ts";
import { isCounted } from "./counted-bindings.ts";
import { activeSubject, findGrant } from "./find-grant.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";

/** The subject, its bindings, the resource and the time for which roles are collected. */
export type RolesQuery = Omit<AccessQuery, "permission" | "conditionContext">;

/** Returns the records of the roles that the subject holds on the resource without a condition. */
export function unconditionalRoles(snapshot: OrgSnapshot, query: RolesQuery): number[] {
  return collectRoles(snapshot, query, (binding) => !snapshot.bindings.isConditional(binding));
}

/** No time is later. */
const endOfTime = Number.MAX_SAFE_INTEGER;

/**
 * Returns the records of the roles that the subject holds on the resource without a condition and for good: by role bindings that have
 * begun and do not expire, so that one that begins later does not stand in for one that ends before.
 */
export function lastingRoles(snapshot: OrgSnapshot, query: RolesQuery): number[] {
  const { bindings } = snapshot;
  return collectRoles(
    snapshot,
    { ...query, now: endOfTime },
    (binding) => !bindings.isConditional(binding) && bindings.holdsAt(binding, query.now),
  );
}

function collectRoles(
  snapshot: OrgSnapshot,
  { subject: reference, resource, now, counted }: RolesQuery,
  accept: (binding: number) => boolean,
): number[] {
  const subject = activeSubject(snapshot, reference);
  if (subject === undefined) return [];
  const held = new Set<number>();
  findGrant(snapshot, subject, resource, now, (binding) => {
    const role = snapshot.bindings.roleOf(binding);
    if (!held.has(role) && isCounted(snapshot, counted, binding) && accept(binding)) held.add(role);
    return false;
  });
  return [...held];
}
