import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { invalidField } from "../../errors/service-error.ts";
import { findUnknownPermission } from "../roles/find-unknown-permission.ts";
import type { AccessDependencies } from "./dependencies.ts";

type Known = Pick<AccessDependencies, "knownPermissions">;

/**
 * Checks that there is a permission, if it is one of this service. What a role names is not misspelt, or is so there, too. Reads nothing,
 * so it does not know the types of the catalog, as `requireKnownPermission` does.
 *
 * @throws ServiceError FIELD_INVALID that names the nearest and lists what there is.
 */
export function requireOwnPermission(
  { knownPermissions }: Known,
  { roles }: OrgSnapshot,
  permission: string,
  field: string,
): void {
  if (roles.permissions.find(permission) >= 0) return;
  const problem = findUnknownPermission(permission, knownPermissions);
  if (problem !== undefined) throw invalidField(field, problem, "permission");
}

/**
 * Checks that there is a permission, as far as this can be known: one of this service, or of a type in its catalog. Others are those
 * of other services.
 *
 * @throws ServiceError FIELD_INVALID that lists what there is.
 */
export async function requireKnownPermission(
  dependencies: Known & Pick<AccessDependencies, "projectContents">,
  snapshot: OrgSnapshot,
  permission: string,
  field: string,
): Promise<void> {
  requireOwnPermission(dependencies, snapshot, permission, field);
  if (snapshot.roles.permissions.find(permission) >= 0) return;
  const end = permission.lastIndexOf(".");
  const [type, verb] = [permission.slice(0, end), permission.slice(end + 1)];
  const verbs = await dependencies.projectContents.verbsOf(type);
  if (verbs === undefined || verbs.includes(verb)) return;
  const problem = `there is no ${permission}; the verbs of ${type} are ${verbs.toSorted().join(", ")}`;
  throw invalidField(field, problem, "permission");
}
