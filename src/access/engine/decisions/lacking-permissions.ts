import type { OrgSnapshot } from "../org-snapshot.ts";
import type { RolePermissions } from "../tables/role-table.ts";

/**
 * Returns the permissions of a role that none of the held roles has. A grantor of the role must not lack any. `*` in the result
 * stands for the permissions that no list has.
 *
 * @param held the records of the roles, from `unconditionalRoles`: what is held under a condition would be passed on without
 *   it.
 */
export function lackingPermissions(
  { roles }: OrgSnapshot,
  held: readonly number[],
  { permissions: wanted, except }: RolePermissions,
): string[] {
  const lacks = (permission: string): boolean => {
    const number = roles.permissions.find(permission);
    return !held.some((role) => roles.has(role, number));
  };
  if (wanted !== "*") return wanted.filter(lacks);
  const ofAll = held.map(roles.exceptionsOf).filter((exceptions) => exceptions !== undefined);
  if (ofAll.length === 0) return ["*"];
  return [...new Set(ofAll.flat())].filter((permission) => lacks(permission) && !except.includes(permission));
}
