import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type RoleBindingRow, isInForce } from "./store.ts";

/**
 * How many conditional bindings of one member or group on one scope are in force. A decision may have to evaluate all of them,
 * and those of the subject's groups and of the scopes above.
 */
const maxConditions = 100;

/** What a binding says about its subject and scope. */
export type Bound = Pick<
  RoleBindingRow,
  "scope_type" | "customer_id" | "service_id" | "project_id" | "member_id" | "group_id" | "condition"
>;

/**
 * Checks that a subject has room for one more conditional binding on a scope. The lock of the org keeps others from adding one.
 *
 * @param others the bindings that the same write adds.
 * @throws ServiceError LIMIT_EXCEEDED
 */
export async function requireFewConditions(
  { db, org }: OrgTransaction,
  bound: Bound,
  subjectPath: string,
  others: readonly Bound[] = [],
): Promise<void> {
  if (bound.condition === "") return;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from role_bindings
    where org_id = ${org.id} and condition <> '' and ${isInForce}
      and member_id is not distinct from ${bound.member_id}::uuid and group_id is not distinct from ${bound.group_id}::uuid
      and scope_type = ${bound.scope_type}
      and customer_id is not distinct from ${bound.customer_id}::uuid
      and service_id is not distinct from ${bound.service_id}::uuid
      and project_id is not distinct from ${bound.project_id}::uuid`.execute(db);
  const count = (rows[0]?.count ?? 0) + others.filter((other) => isSameCell(other, bound)).length;
  if (count < maxConditions) return;
  const description = `${subjectPath} has reached its limit of ${maxConditions} role bindings with a condition on one resource; combine their conditions, or put what differs in labels`;
  throw new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: subjectPath, limit: String(maxConditions) },
    quotas: [{ subject: subjectPath, description }],
  });
}

function isSameCell(one: Bound, other: Bound): boolean {
  return one.condition !== "" && one.member_id === other.member_id && one.group_id === other.group_id;
}
