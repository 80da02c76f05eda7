import { type SubjectReference, activeSubject, findGrant } from "./find-grant.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";

export interface Question {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly resource: Resource;
  /** By the database's clock, in milliseconds. */
  readonly now: number;
  /** What conditions are asked about. They must not ask the snapshot in turn. */
  readonly conditionContext: unknown;
}

/** Whether the subject, of the snapshot's org, has the permission on the resource. */
export function decide(snapshot: OrgSnapshot, question: Question): boolean {
  const subject = activeSubject(snapshot, question.subject);
  if (subject === undefined) return false;
  const { bindings, roles } = snapshot;
  const permission = roles.permissions.find(question.permission);
  const { conditionContext } = question;
  const grants = (binding: number): boolean =>
    roles.has(bindings.roleOf(binding), permission) && bindings.conditionHolds(binding, conditionContext);
  return findGrant(snapshot, subject, question.resource, question.now, grants) !== 0;
}
