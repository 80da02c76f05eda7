import type { Question } from "./decide.ts";
import { activeSubject, findGrant } from "./find-grant.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";

/** Whose roles are asked for, where and when. */
export type RolesQuestion = Omit<Question, "permission" | "conditionContext">;

/** The roles that the subject holds on the resource now, by their records. */
export function heldRoles(snapshot: OrgSnapshot, question: Omit<Question, "permission">): number[] {
  const { conditionContext } = question;
  return collectRoles(snapshot, question, (binding) => snapshot.bindings.conditionHolds(binding, conditionContext));
}

/** Those of them that it holds whatever a call is about: without a condition. */
export function unconditionalRoles(snapshot: OrgSnapshot, question: RolesQuestion): number[] {
  return collectRoles(snapshot, question, (binding) => !snapshot.bindings.isConditional(binding));
}

function collectRoles(
  snapshot: OrgSnapshot,
  { subject: reference, resource, now }: RolesQuestion,
  counts: (binding: number) => boolean,
): number[] {
  const subject = activeSubject(snapshot, reference);
  if (subject === undefined) return [];
  const held = new Set<number>();
  findGrant(snapshot, subject, resource, now, (binding) => {
    const role = snapshot.bindings.roleOf(binding);
    if (!held.has(role) && counts(binding)) held.add(role);
    return false;
  });
  return [...held];
}
