import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { GrantedRole } from "../../access/escalation/guard-types.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { isSamePattern, otherPatterns, patterns } from "../../paths/patterns.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import type { LookupInTransaction } from "../../database/path-lookup.ts";
import type { RoleRow } from "../roles/store.ts";
import { lookUpInOrg } from "./look-up-in-org.ts";
import { getPredefinedRole } from "../roles/predefined-role-methods.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";
import type { Scope } from "./scopes.ts";

const field = "role_binding.role_path";

/**
 * Finds the roles that new bindings name: predefined roles or, for a binding on an org or project, roles of the org. Returns a
 * function for each that returns the role, or throws.
 *
 * @throws ServiceError (the functions) PATH_INVALID, FIELD_INVALID or RESOURCE_NOT_FOUND.
 */
export async function findGrantedRoles(
  transaction: OrgTransaction,
  roles: LookupInTransaction<RoleRow>,
  predefinedRoles: readonly PredefinedRole[],
  { kind }: Scope,
  texts: readonly string[],
): Promise<(() => GrantedRole)[]> {
  const isInOrg = kind === "org" || kind === "project";
  const found = await lookUpInOrg(transaction, roles, patterns.Role, parseRolePath, isInOrg ? texts : []);
  return texts.map((text) => () => {
    const { pattern, references } = parseRolePath(text);
    const [first, role] = [required(references[0]), required(references.at(-1))];
    if (isSamePattern(pattern, otherPatterns.predefinedRole)) {
      return { predefined: getPredefinedRole(predefinedRoles, role).name };
    }
    if (!isInOrg) {
      const description =
        "must be a predefined role, such as /roles/viewer: a role of an org can be granted only on the org and its projects";
      throw invalidField(field, description, "predefined_role");
    }
    requireSameOrg(transaction, first, field);
    const row = found.get(text);
    if (row === undefined) throw notFound("role", formatReferences(patterns.Role, references));
    return { id: row.id };
  });
}

const parseRolePath = (text: string) => parseAnyPath([patterns.Role, otherPatterns.predefinedRole], text, field);
