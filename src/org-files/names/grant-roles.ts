/** The roles of groups on projects, from the weakest to the strongest. Each role includes the previous ones. */
export const grantRoles = ["read", "triage", "write", "maintain", "admin"] as const;

export type GrantRole = (typeof grantRoles)[number];

/** The role that admins of the organisation also get, if the file grants it. */
export const strongestRole = "admin" satisfies GrantRole;

export function permissionsOfRole(role: GrantRole): string[] {
  return grantRoles.slice(0, grantRoles.indexOf(role) + 1).map((included) => `repos.access.${included}`);
}
