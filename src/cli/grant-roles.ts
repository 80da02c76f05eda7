/** What groups may do on projects, from weak to strong: each includes what those before it may. */
export const grantRoles = ["read", "triage", "write", "maintain", "admin"] as const;

export type GrantRole = (typeof grantRoles)[number];

/** The role that admins of the organisation have too, where there is one. */
export const strongestRole = "admin" satisfies GrantRole;

/** What a role of an organisation file is in permissions. */
export function permissionsOf(role: GrantRole): string[] {
  return grantRoles.slice(0, grantRoles.indexOf(role) + 1).map((included) => `repos.access.${included}`);
}
