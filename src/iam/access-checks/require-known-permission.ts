import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { invalidField } from "../../errors/service-error.ts";
import { findUnknownPermission } from "../roles/find-unknown-permission.ts";
import type { AccessDependencies } from "./dependencies.ts";

/**
 * Checks that there is a permission, as far as this can be known: one of this service, or of a type in its catalog. Others are those
 * of other services. What a role names is not misspelt, or is so there, too.
 *
 * @throws ServiceError FIELD_INVALID that lists what there is.
 */
export async function requireKnownPermission(
  { projectContents, knownPermissions }: Pick<AccessDependencies, "projectContents" | "knownPermissions">,
  { roles }: OrgSnapshot,
  permission: string,
  field: string,
): Promise<void> {
  if (roles.permissions.find(permission) >= 0) return;
  const end = permission.lastIndexOf(".");
  const [type, verb] = [permission.slice(0, end), permission.slice(end + 1)];
  const verbs = await projectContents.verbsOf(type);
  const ofType =
    verbs === undefined || verbs.includes(verb)
      ? undefined
      : `there is no ${permission}; the verbs of ${type} are ${verbs.toSorted().join(", ")}`;
  const problem = findUnknownPermission(permission, knownPermissions) ?? ofType;
  if (problem !== undefined) throw invalidField(field, problem, "permission");
}
