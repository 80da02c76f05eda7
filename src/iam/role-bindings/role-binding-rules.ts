// The rules of role bindings. There are five kinds of scope: scope-rules.ts has the differences, and this file has the rest.
import { type SqlBool, sql } from "kysely";
import type { RoleBinding, RoleBindingSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { checkCondition } from "../../access/conditions/compile-condition.ts";
import type { GrantScope, GrantedRole } from "../../access/escalation/guard-types.ts";
import { keepOwner } from "../../access/escalation/keep-owner.ts";
import { type ScopeColumns, scopeIdOf, scopeKindOf, scopeTypeOf } from "../../access/scope-kinds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { endsBefore } from "../../standard-methods/write/expire-time.ts";
import { removeWhere } from "../../standard-methods/rows/remove-rows.ts";
import { isOneOf } from "../../standard-methods/rows/row-key.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import type { PlacedRules } from "../../standard-methods/standard-service.ts";
import type { RoleDependencies } from "../roles/service.ts";
import { roleBindingDefinition } from "./definition.ts";
import { findGrantedRole } from "./granted-role.ts";
import { roleBindingPath } from "./message.ts";
import { readPeriod } from "./period.ts";
import {
  type ScopeRules,
  createPlatformRules,
  createServiceRules,
  customerRules,
  orgRules,
  projectRules,
} from "./scope-rules.ts";
import { type RoleBindingRow, selectKeptRoleBindings } from "./store.ts";
import { type Bound, requireFewConditions } from "./require-few-conditions.ts";
import { findBoundSubject } from "./subject.ts";

type PlacedRoleBindingRules = PlacedRules<"role_bindings", RoleBindingRow, typeof RoleBindingSchema>;

/** Returns the rules of role bindings in each of their places. */
export function createRoleBindingRules(dependencies: RoleDependencies): readonly PlacedRoleBindingRules[] {
  const { systemOrgId } = dependencies.installation;
  const [service, platform] = [createServiceRules(systemOrgId), createPlatformRules(systemOrgId)];
  return [orgRules, projectRules, customerRules, service, platform].map((rules) => createInScope(dependencies, rules));
}

function createInScope(
  { escalation, predefinedRoles, now }: RoleDependencies,
  { scope, findPlace, writeScope }: ScopeRules,
): PlacedRoleBindingRules {
  const rules: PlacedRoleBindingRules["rules"] = {
    scope: writeScope,
    creation: {
      kind: "in org",
      async prepare(transaction, parent, messages, atItem) {
        const place = await atItem(0, () => findPlace(transaction, parent));
        const added: Bound[] = [];
        return mapItems(messages, atItem, async (message) => {
          const subject = await findBoundSubject(transaction, message.subjectPath);
          const role = await findGrantedRole(transaction, predefinedRoles, scope, message.rolePath);
          const period = readPeriod(message, now());
          const condition = readCondition(message);
          const at = { scope_type: scopeTypeOf(scope.kind), ...place };
          await escalation.requireMayGrant(transaction, role, grantScope({ ...at, org_id: transaction.org.id }));
          const columns = { ...at, ...subject, ...roleColumns(role), ...period, condition };
          await requireFewConditions(transaction, columns, message.subjectPath, added);
          added.push(columns);
          await removeExpired(transaction, message.name, columns);
          return { columns };
        });
      },
    },

    async change(transaction, row, message) {
      requireInOrg(transaction, row);
      const period = readPeriod(message, now(), row);
      const condition = message.condition === row.condition ? row.condition : readCondition(message);
      const columns = { ...period, condition };
      if (row.condition === "") {
        await requireFewConditions(transaction, { ...row, condition }, message.subjectPath);
      }
      if (grantsMore(row, columns)) {
        await escalation.requireMayGrant(transaction, grantedRole(row), grantScope(row));
      }
      return columns;
    },

    revokes: (write) =>
      write.step === "update" && !grantsMore(write.after, write.row)
        ? []
        : [
            {
              kind: "role",
              role: grantedRole(write.row),
              scope: grantScope(write.row),
              memberId: write.row.member_id,
            },
          ],

    beforeRemove(transaction, bindings) {
      for (const row of bindings) {
        requireInOrg(transaction, row);
      }
    },

    guard: (transaction, _step, write) => keepOwner(transaction, write),
  };
  return { place: scope.place, rules };
}

/**
 * Removes an expired binding of this name, which is replaced as if it had been deleted. If it is of another org, the change log
 * of that org has no entry for it, because the write does not hold that org's lock.
 */
async function removeExpired(
  transaction: OrgTransaction,
  name: string,
  columns: Pick<RoleBindingRow, "scope_type" | "customer_id" | "service_id" | "project_id">,
): Promise<void> {
  const { db, org } = transaction;
  const { scope_type: type, customer_id: customerId, service_id: serviceId, project_id: projectId } = columns;
  // The names of bindings on a customer, a service or the platform are unique across orgs.
  const inOrg = type === "ORG" || type === "PROJECT" ? sql`and role_bindings.org_id = ${org.id}` : sql``;
  const isExpired = sql<SqlBool>`role_bindings.name = ${name} and scope_type = ${type} and expire_time <= now()
    and role_bindings.customer_id is not distinct from ${customerId}
    and role_bindings.service_id is not distinct from ${serviceId}
    and role_bindings.project_id is not distinct from ${projectId} ${inOrg}`;
  const expired = await selectKeptRoleBindings(db).where(isExpired).execute();
  if (expired.length === 0) return;
  await removeWhere(db, roleBindingDefinition, isOneOf(roleBindingDefinition, expired));
  for (const row of expired.filter(({ org_id }) => org_id === org.id)) {
    recordChange(transaction, roleBindingDefinition, row, null, row.expire_time);
  }
}

/**
 * Checks that the binding is in the org of the write, whose lock and change log the write has. Orgs can share the names of
 * bindings: since the org was looked up, the name may have passed to a binding of another org.
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

function roleColumns(role: GrantedRole): Pick<RoleBindingRow, "predefined_role" | "role_id"> {
  return "predefined" in role
    ? { predefined_role: role.predefined, role_id: null }
    : { predefined_role: null, role_id: role.id };
}

function grantedRole({ predefined_role: predefined, role_id: id }: RoleBindingRow): GrantedRole {
  return predefined === null ? { id: id ?? "" } : { predefined };
}

function grantScope(row: ScopeColumns): GrantScope {
  return { kind: scopeKindOf(row.scope_type), id: scopeIdOf(row) ?? "" };
}

type Applicability = Pick<RoleBindingRow, "start_time" | "expire_time" | "condition">;

/** Reports whether a binding applies when it did not before: from earlier on, for longer, or under another condition. */
function grantsMore(before: Applicability, after: Applicability): boolean {
  return (
    startsBefore(after.start_time, before.start_time) ||
    endsBefore(before.expire_time, after.expire_time) ||
    (after.condition !== before.condition && before.condition !== "")
  );
}

/** Null is always. */
function startsBefore(time: Date | null, other: Date | null): boolean {
  return other !== null && (time === null || time < other);
}
