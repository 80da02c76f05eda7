// Who holds which role where. Bindings stand in four kinds of scope; scope-rules.ts has what these differ in, all else is said
// once.
import { type RoleBinding, RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { checkCondition } from "../access/conditions.ts";
import { keepOwner } from "../access/keep-owner.ts";
import type { GrantScope, GrantedRole } from "../access/grants.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { ServiceError } from "../errors/service-error.ts";
import { invalidField, notFound } from "../errors/service-error.ts";
import { formatPath, orgPathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { expiryInPast } from "../resource/expire-time.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { type Resource, defineResource } from "../resource/resource.ts";
import type { RoleDependencies } from "../roles/service.ts";
import { roleBindingFields } from "./fields.ts";
import { findGrantedRole } from "./granted-role.ts";
import { loggedRoleBinding, roleBindingPath, toRoleBinding } from "./message.ts";
import { expireField, readPeriod } from "./period.ts";
import { type ScopeRules, createPlatformRules, customerRules, orgRules, projectRules } from "./scope-rules.ts";
import type { Scope } from "./scopes.ts";
import {
  type RoleBindingRow,
  deleteRoleBindings,
  findRoleBinding,
  insertRoleBinding,
  readRoleBindingsPage,
  selectRoleBindings,
  updateRoleBinding,
} from "./store.ts";
import { findSubject } from "./subject.ts";

type RoleBindingResource = Resource<typeof RoleBindingSchema, RoleBindingRow>;

/** The same resource in each of its places. */
export function createRoleBindings(dependencies: RoleDependencies): readonly RoleBindingResource[] {
  const { parents, installation } = dependencies;
  const platform = createPlatformRules(installation.systemOrgId);
  return [
    createInScope(dependencies, orgRules, parents.org),
    createInScope(dependencies, projectRules, parents.project),
    createInScope(dependencies, customerRules, parents.customer),
    createInScope(dependencies, platform, (parent) => Promise.resolve(parent)),
  ];
}

function createInScope(
  { database, grants, predefinedRoles, now }: RoleDependencies,
  { scope, findPlace, requireWritable, findScope }: ScopeRules,
  resolveParent: RoleBindingResource["resolveParent"],
): RoleBindingResource {
  const tables = [...scope.parentTables, "role_bindings"] as const;
  const rows = selectRoleBindings(database.reads).where(scope.holds);
  return defineResource({
    type: "RoleBinding",
    pattern: scope.pattern,
    label: "role binding",
    schema: RoleBindingSchema,
    toMessage: toRoleBinding,
    pathOf: roleBindingPath,
    idOf: (row: RoleBindingRow) => row.id,
    parentIdOf: (row) => row.org_id,
    parentPathOf: (row) => formatPath(patterns.Org, orgPathName(row)),
    logged: loggedRoleBinding,
    fields: roleBindingFields(scope),
    uniqueKey: scope.uniqueKey,
    ...(findScope !== undefined && { findScope }),
    lookup: createPathLookup(database, `role_bindings_of_${scope.type.toLowerCase()}`, tables, rows),
    resolveParent,
    readPage: (db, selection) => readRoleBindingsPage(db, scope, selection),
    find: (db, path) => findRoleBinding(db, scope, path),

    async insert(transaction, parent, message) {
      const place = await findPlace(transaction, parent);
      const subject = await findSubject(transaction, message.subjectPath);
      const role = await findGrantedRole(transaction, predefinedRoles, scope, message.rolePath);
      const period = readPeriod(message, now());
      const condition = readCondition(message);
      await grants.requireMayGrant(transaction, role, grantScope(scope, { ...place, org_id: transaction.org.id }));
      const columns = { scope_type: scope.type, ...place, ...subject, ...roleColumns(role), ...period, condition };
      return requireInForce(await insertRoleBinding(transaction, message, columns));
    },

    async update(transaction, row, message) {
      requireInOrg(transaction, row);
      requireWritable(row);
      const period = readPeriod(message, now(), row);
      const condition = message.condition === row.condition ? row.condition : readCondition(message);
      const columns = { ...period, condition };
      if (grantsOtherwise(row, columns)) {
        await grants.requireMayGrant(transaction, grantedRole(row), grantScope(scope, row));
      }
      return requireInForce(await keepOwner(transaction, () => updateRoleBinding(transaction, row, message, columns)));
    },

    async removeMany(transaction, bindings) {
      for (const row of bindings) {
        requireInOrg(transaction, row);
        requireWritable(row);
      }
      await keepOwner(transaction, () => deleteRoleBindings(transaction, bindings));
    },

    explain: explainRoleBindingError,
  });
}

/**
 * Makes sure that the binding is in the org whose lock and change log the write has. Of a name that the orgs of a customer
 * share, another one may have come since the org was looked for.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND
 */
function requireInOrg({ org }: OrgTransaction, row: RoleBindingRow): void {
  if (row.org_id !== org.id) throw notFound("role binding", roleBindingPath(row));
}

/** @throws ServiceError FIELD_INVALID */
function readCondition({ condition }: RoleBinding): string {
  const problem = condition === "" ? undefined : checkCondition(condition);
  if (problem !== undefined) throw invalidField("role_binding.condition", problem, "condition");
  return condition;
}

/** The database's clock has the last word on what has expired. */
function requireInForce(row: RoleBindingRow | undefined): RoleBindingRow {
  if (row === undefined) throw expiryInPast(expireField);
  return row;
}

function roleColumns(role: GrantedRole): Pick<RoleBindingRow, "predefined_role" | "role_id"> {
  return "predefined" in role
    ? { predefined_role: role.predefined, role_id: null }
    : { predefined_role: null, role_id: role.id };
}

function grantedRole({ predefined_role: predefined, role_id: id }: RoleBindingRow): GrantedRole {
  return predefined === null ? { id: id ?? "" } : { predefined };
}

type PlaceRow = Pick<RoleBindingRow, "org_id" | "customer_id" | "project_id">;

function grantScope({ type }: Scope, row: PlaceRow): GrantScope {
  switch (type) {
    case "PLATFORM":
      return { kind: "platform", id: "" };
    case "CUSTOMER":
      return { kind: "customer", id: row.customer_id ?? "" };
    case "ORG":
      return { kind: "org", id: row.org_id };
    case "PROJECT":
      return { kind: "project", id: row.project_id ?? "" };
  }
}

/** Whether a binding that is there comes to hold at other times, or under another condition. */
function grantsOtherwise(
  row: RoleBindingRow,
  next: Pick<RoleBindingRow, "start_time" | "expire_time" | "condition">,
): boolean {
  return (
    row.start_time?.getTime() !== next.start_time?.getTime() ||
    row.expire_time?.getTime() !== next.expire_time?.getTime() ||
    row.condition !== next.condition
  );
}

function explainRoleBindingError(error: unknown, binding: { readonly name: string }): ServiceError | undefined {
  const explain = (index: string) => explainNameTaken(error, index, "role binding", binding);
  return explain("role_bindings_name_key") ?? explain("role_bindings_shared_name_key");
}
