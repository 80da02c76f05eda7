import type { OrgSnapshot } from "../org-snapshot.ts";
import { describeClasses, noClasses } from "../tables/permission-class.ts";
import { type RolePermissions, classesOf, namedIn } from "../tables/role-table.ts";

/**
 * Returns the permissions of a role that none of the held roles has. A grantor of the role must not lack any. Wildcards in the
 * result stand for the permissions that no list has.
 *
 * @param held the records of the roles, from `unconditionalRoles` or `lastingRoles`: what is held under a condition would be passed on without
 *   it.
 */
export function lackingPermissions({ roles }: OrgSnapshot, held: readonly number[], wanted: RolePermissions): string[] {
  const lacks = (permission: string): boolean => {
    const number = roles.permissions.find(permission);
    return !held.some((role) => roles.has(role, number));
  };
  const classes = held.reduce((all, role) => all | roles.classesOf(role), noClasses);
  return [...new Set(namedIn(wanted).filter(lacks)), ...describeClasses(classesOf(wanted) & ~classes)];
}
