// The rules of role bindings. There are five kinds of scope: scope-rules.ts has the differences, and this file has the rest.
import type { RoleBinding, RoleBindingSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { checkCondition } from "../../access/conditions/compile-condition.ts";
import type { GrantScope, GrantedRole } from "../../access/escalation/guard-types.ts";
import { type ScopeColumns, scopeIdOf, scopeKindOf, scopeTypeOf } from "../../access/scope-kinds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { checkTogether, createFirstFault, mapUntilFault } from "../../standard-methods/batch/first-fault.ts";
import { groupDefinition } from "../groups/definition.ts";
import { memberDefinition } from "../members/definition.ts";
import { roleDefinition } from "../roles/definition.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { endsBefore } from "../../standard-methods/write/expire-time.ts";
import type { PlacedRules } from "../../standard-methods/standard-service.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { findExpired, removeExpired } from "./expired-bindings.ts";
import { type BoundRole, findGrantedRoles } from "./granted-role.ts";
import { roleBindingPath } from "./message.ts";
import { readPeriod } from "./period.ts";
import {
  type BoundScope,
  type ScopeRules,
  createPlatformRules,
  createProjectRules,
  createServiceRules,
  customerRules,
  orgRules,
} from "./scope-rules.ts";
import type { RoleBindingRow } from "./store.ts";
import { requireFewConditions } from "./require-few-conditions.ts";
import { type BoundSubject, findBoundSubjects } from "./subject.ts";

type PlacedRoleBindingRules = PlacedRules<"role_bindings", RoleBindingRow, typeof RoleBindingSchema>;

export function createRoleBindingRules(dependencies: RoleDependencies): readonly PlacedRoleBindingRules[] {
  const { systemOrgId } = dependencies.installation;
  const [service, platform] = [createServiceRules(systemOrgId), createPlatformRules(systemOrgId)];
  return [orgRules, createProjectRules(dependencies), customerRules, service, platform].map((rules) =>
    createInScope(dependencies, rules),
  );
}

function createInScope(
  { escalation, predefinedRoles, readers }: RoleDependencies,
  { scope, findPlaces, writeScope }: ScopeRules,
): PlacedRoleBindingRules {
  const lookups = {
    members: readers.readerOf(memberDefinition, memberDefinition.places[0]).lookup,
    groups: readers.readerOf(groupDefinition, groupDefinition.places[0]).lookup,
    roles: readers.readerOf(roleDefinition, roleDefinition.places[0]).lookup,
  };
  const rules: PlacedRoleBindingRules["rules"] = {
    scope: writeScope,
    startCheck: () => readCondition,
    creation: {
      kind: "in org",
      async prepare(transaction, parents, messages, atItem, checked) {
        const { db, org } = transaction;
        const subjectPaths = messages.map(({ subjectPath }) => subjectPath);
        const findingSubjects = findBoundSubjects(transaction, lookups, subjectPaths);
        const rolePaths = messages.map(({ rolePath }) => rolePath);
        const findingRoles = findGrantedRoles(transaction, lookups.roles, predefinedRoles, scope, rolePaths);
        const places = await atItem(0, () => findPlaces(transaction, parents));
        await db.sendHeld();
        const [subjects, roles] = [findingSubjects(), findingRoles()];
        const fault = createFirstFault(messages.length, atItem);
        const bounds = mapUntilFault(messages, fault, (message, index) => {
          const [place, subject] = [required(places[index])(), required(subjects[index])()];
          const bound = boundOf(transaction, message, place, subject, required(roles[index])());
          required(checked[index])();
          return { ...bound, columns: { scope_type: scopeTypeOf(scope.kind), ...bound.columns } };
        });
        const inOrg = bounds.map((bound) => ({ ...bound, columns: { ...bound.columns, org_id: org.id } }));
        const findingExpired = findExpired(transaction, inOrg);
        const grants = inOrg.map(({ columns }) => ({ role: grantedRole(columns), scope: grantScope(columns) }));
        await checkTogether(grants, JSON.stringify, fault, (some) => escalation.requireMayGrant(transaction, some));
        await requireFewConditions(transaction, inOrg.slice(0, fault.before()), atItem);
        await fault.rejectIfAny();
        await db.sendHeld();
        await removeExpired(transaction, findingExpired());
        // One that expires is read again, because it may have expired meanwhile.
        return bounds.map(({ columns, joined, parent }) => ({
          columns,
          ...(columns.expire_time === null && { joined }),
          ...(parent && { parent }),
        }));
      },
    },

    async change(transaction, row, message) {
      requireInOrg(transaction, row);
      const period = readPeriod(message, transaction.org, row);
      const condition = message.condition === row.condition ? row.condition : readCondition(message);
      const columns = { ...period, condition };
      if (row.condition === "") {
        const bound = { columns: { ...row, condition }, subjectPath: message.subjectPath };
        await requireFewConditions(transaction, [bound], alone);
      }
      if (grantsMore(row, columns)) {
        await escalation.requireMayGrant(transaction, [{ role: grantedRole(row), scope: grantScope(row) }]);
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

    mayLeaveNoOwner: ["update", "remove"],
  };
  return { place: scope.place, rules };
}

/** Returns what a new binding has in its columns, and what its row has of the rows that it names. */
function boundOf(
  transaction: OrgTransaction,
  message: RoleBinding,
  place: BoundScope,
  subject: BoundSubject,
  role: BoundRole,
) {
  const { name, subjectPath, condition } = message;
  const columns = {
    ...place.columns,
    ...subject.columns,
    ...role.columns,
    ...readPeriod(message, transaction.org),
    condition,
  };
  const joined = { ...joinedOrgColumns(transaction), ...place.joined, ...subject.joined, ...role.joined };
  return { name, subjectPath, columns, joined, ...(place.parent && { parent: place.parent }) };
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

function grantedRole({
  predefined_role: predefined,
  role_id: id,
}: Pick<RoleBindingRow, "predefined_role" | "role_id">): GrantedRole {
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
