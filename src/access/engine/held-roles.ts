import type { Question } from "./decide.ts";
import { activeSubject, findGrant } from "./find-grant.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";

/** The roles that the subject holds on the resource now, by their records. */
export function heldRoles(snapshot: OrgSnapshot, question: Omit<Question, "permission">): number[] {
  const subject = activeSubject(snapshot, question.subject);
  if (subject === undefined) return [];
  const { bindings } = snapshot;
  const held = new Set<number>();
  findGrant(snapshot, subject, question.resource, question.now, (binding) => {
    const role = bindings.roleOf(binding);
    if (!held.has(role) && bindings.conditionHolds(binding, question.conditionContext)) held.add(role);
    return false;
  });
  return [...held];
}
