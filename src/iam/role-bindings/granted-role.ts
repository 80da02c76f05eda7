import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { GrantedRole } from "../../access/escalation/guard-types.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { isSamePattern, otherPatterns, patterns } from "../../paths/patterns.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { roleDefinition } from "../roles/definition.ts";
import { getPredefinedRole } from "../roles/predefined-role-methods.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";
import type { Scope } from "./scopes.ts";

const field = "role_binding.role_path";

/**
 * Finds the role that a new binding names: a predefined role or, for a binding on an org or project, a role of the org.
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
  if (kind !== "org" && kind !== "project") {
    const description =
      "must be a predefined role, such as /roles/viewer: a role of an org can be granted only on the org and its projects";
    throw invalidField(field, description, "predefined_role");
  }
  requireSameOrg(transaction, first, field);
  const row = await findRow(transaction.db, roleDefinition, [orgReference(transaction), role]);
  if (row === undefined) throw notFound("role", formatReferences(patterns.Role, references));
  return { id: row.id };
}
