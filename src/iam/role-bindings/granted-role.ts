import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { isSamePattern, otherPatterns, patterns } from "../../paths/patterns.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import type { LookupInTransaction } from "../../database/path-lookup.ts";
import type { Later } from "../../database/write-transaction.ts";
import type { RoleRow } from "../roles/store.ts";
import { lookUpInOrg } from "../../standard-methods/look-up-in-org.ts";
import type { RoleBindingRow } from "./store.ts";
import { getPredefinedRole } from "../roles/predefined-role-methods.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";
import type { Scope } from "./scopes.ts";

const ofBinding = "role_binding.role_path";

export interface BoundRole {
  readonly columns: Pick<RoleBindingRow, "predefined_role" | "role_id">;
  /** What the path of the role needs. */
  readonly joined: Pick<RoleBindingRow, "role_name">;
}

/**
 * Finds the roles that new bindings name, together with the next statement: predefined roles or, for a binding on an org or
 * project, roles of the org. A function for each returns the role, or throws.
 *
 * @param field of the request that names them.
 * @throws ServiceError (the functions) PATH_INVALID, FIELD_INVALID or RESOURCE_NOT_FOUND.
 */
export function findGrantedRoles(
  transaction: OrgTransaction,
  roles: LookupInTransaction<RoleRow>,
  predefinedRoles: readonly PredefinedRole[],
  { kind }: Pick<Scope, "kind">,
  texts: readonly string[],
  field = ofBinding,
): Later<(() => BoundRole)[]> {
  const isInOrg = kind === "org" || kind === "project";
  const parseRolePath = (text: string) => parseAnyPath([patterns.Role, otherPatterns.predefinedRole], text, field);
  const finding = lookUpInOrg(transaction, roles, patterns.Role, parseRolePath, isInOrg ? texts : []);
  const roleOf = (text: string, row: RoleRow | undefined): BoundRole => {
    const { pattern, references } = parseRolePath(text);
    const [first, role] = [required(references[0]), required(references.at(-1))];
    if (isSamePattern(pattern, otherPatterns.predefinedRole)) {
      const { name } = getPredefinedRole(predefinedRoles, role);
      return { columns: { predefined_role: name, role_id: null }, joined: { role_name: null } };
    }
    if (!isInOrg) {
      const description =
        "must be a predefined role, such as /roles/viewer: a role of an org can be granted only on the org and its projects";
      throw invalidField(field, description, "predefined_role");
    }
    requireSameOrg(transaction, first, field);
    if (row === undefined) throw notFound("role", formatReferences(patterns.Role, references));
    return { columns: { predefined_role: null, role_id: row.id }, joined: { role_name: row.name } };
  };
  return () => {
    const found = finding();
    return texts.map((text) => () => roleOf(text, found.get(text)));
  };
}
