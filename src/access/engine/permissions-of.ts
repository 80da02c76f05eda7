import type { Question } from "./decide.ts";
import { heldRoles } from "./held-roles.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";

export interface PermissionsQuestion extends Omit<Question, "permission"> {
  readonly permissions: readonly string[];
}

/** Those of the permissions that the subject has on the resource, in the order in which they were given. */
export function permissionsOf(snapshot: OrgSnapshot, question: PermissionsQuestion): string[] {
  const { roles } = snapshot;
  const held = heldRoles(snapshot, question);
  return question.permissions.filter((text) => {
    const permission = roles.permissions.find(text);
    return held.some((role) => roles.has(role, permission));
  });
}
