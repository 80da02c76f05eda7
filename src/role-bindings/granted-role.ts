import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { GrantedRole } from "../access/grants.ts";
import { invalidField, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { isSamePattern, otherPatterns, patterns } from "../paths/patterns.ts";
import { parseAnyPath } from "../paths/resource-path.ts";
import { orgReference, requireSameOrg } from "../resource/org-reference.ts";
import { required } from "../resource/required.ts";
import { findRow } from "../resource/row-reader.ts";
import { roleDefinition } from "../roles/definition.ts";
import { getPredefinedRole } from "../roles/predefined-role-methods.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";
import type { Scope } from "./scopes.ts";

const field = "role_binding.role_path";

/**
 * Finds the role that a new binding names: a predefined one, or one of the org for what is granted there.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID or RESOURCE_NOT_FOUND.
 */
export async function findGrantedRole(
  transaction: OrgTransaction,
  predefinedRoles: readonly PredefinedRole[],
  { kind }: Scope,
  text: string,
): Promise<GrantedRole> {
  const { pattern, references } = parseAnyPath([patterns.Role, otherPatterns.predefinedRole], text, field);
  const [first, role] = [required(references[0]), required(references.at(-1))];
  if (isSamePattern(pattern, otherPatterns.predefinedRole)) {
    return { predefined: getPredefinedRole(predefinedRoles, role).name };
  }
  if (kind === "platform" || kind === "customer") {
    const description =
      "must be a predefined role, such as /roles/viewer: those of an org are granted on it and its projects";
    throw invalidField(field, description, "predefined_role");
  }
  requireSameOrg(transaction, first, field);
  const row = await findRow(transaction.db, roleDefinition, [orgReference(transaction), role]);
  if (row === undefined) throw notFound("role", formatReferences(patterns.Role, references));
  return { id: row.id };
}
