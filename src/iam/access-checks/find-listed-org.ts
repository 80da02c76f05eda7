import { type TargetPath, isInService, orgIn } from "../../access/evaluation/target-path.ts";
import { invalidField } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";

/**
 * Returns the org whose members a list of subjects of a resource contains: the org that the resource is in or, for a service of
 * the catalog, the org `system`, whose members are the only ones that can be granted something on it.
 *
 * @param field the field of the request that holds the path, for errors.
 * @throws ServiceError FIELD_INVALID for a customer and the platform.
 */
export function findListedOrg(path: TargetPath, systemOrgId: string, field: string): Reference {
  const org = isInService(path) ? ({ by: "id", value: systemOrgId } as const) : orgIn(path);
  if (org !== undefined) return org;
  throw invalidField(field, "must be the path of an Org, a Service or a resource in one", "org");
}
