import { type RolesQuestion, unconditionalRoles } from "./held-roles.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { RolePermissions } from "./role-table.ts";

/**
 * What a subject lacks on a resource of what a role holds: those who grant a role must lack nothing of it. What is
 * held under a condition does not count, as it would be passed on without. `*` stands for the permissions that no list has.
 */
export function lackingPermissions(
  snapshot: OrgSnapshot,
  question: RolesQuestion,
  { permissions: wanted, except }: RolePermissions,
): string[] {
  const held = unconditionalRoles(snapshot, question);
  const { roles } = snapshot;
  const lacks = (permission: string): boolean => {
    const number = roles.permissions.find(permission);
    return !held.some((role) => roles.has(role, number));
  };
  if (wanted !== "*") return wanted.filter(lacks);
  const ofAll = held.map(roles.exceptionsOf).filter((exceptions) => exceptions !== undefined);
  if (ofAll.length === 0) return ["*"];
  return [...new Set(ofAll.flat())].filter((permission) => lacks(permission) && !except.includes(permission));
}
