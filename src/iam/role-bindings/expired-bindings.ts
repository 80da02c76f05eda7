// Expired role bindings, whose names are free: a new binding replaces one as if that had been deleted. Each is removed by a write in the log
// of its own org, as the purge job does it, so that those who follow that log learn of it.
import { type SqlBool, sql } from "kysely";
import { scopeIdOf } from "../../access/scope-kinds.ts";
import { purgeAuthor } from "../../changes/author.ts";
import { lockOrgThatStays } from "../../changes/lock-org.ts";
import { type OrgTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { clockMs } from "../../database/clock.ts";
import type { Later, WriteTransaction } from "../../database/write-transaction.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { removeWhere } from "../../standard-methods/rows/remove-rows.ts";
import { isOneOf } from "../../standard-methods/rows/row-key.ts";
import { roleBindingDefinition } from "./definition.ts";
import type { NewBound } from "./require-few-conditions.ts";
import { type RoleBindingRow, selectKeptRoleBindings } from "./store.ts";

/**
 * Finds the expired bindings of these names that are in the org of a write, together with the next statement.
 *
 * @param bounds on scopes of one kind.
 */
export function findExpired(
  { db, org }: OrgTransaction,
  bounds: readonly (NewBound & { readonly name: string })[],
): Later<readonly RoleBindingRow[]> {
  const type = bounds[0]?.columns.scope_type;
  if (type === undefined) return () => [];
  const names = bounds.map(({ name }) => name);
  const scopeIds = bounds.map(({ columns }) => scopeIdOf(columns));
  const isNamed =
    type === "PLATFORM"
      ? sql`role_bindings.name = any(${names}::text[])`
      : sql`(role_bindings.scope_id, role_bindings.name) in (select * from unnest(${scopeIds}::uuid[], ${names}::text[]))`;
  const isExpired = sql<SqlBool>`scope_type = ${sql.lit(type)} and expire_time <= ${org.lockTime} and ${isNamed}`;
  return db.readWithNext(
    selectKeptRoleBindings(db).where("role_bindings.org_id", "=", org.id).where(isExpired).compile(),
  );
}

/** Removes expired bindings of the org of a write, and records that. */
export async function removeExpired(transaction: OrgTransaction, expired: readonly RoleBindingRow[]): Promise<void> {
  if (expired.length === 0) return;
  const { db, org } = transaction;
  await removeWhere(db, roleBindingDefinition, org, isOneOf(roleBindingDefinition, expired));
  for (const row of expired) recordChange(transaction, roleBindingDefinition, row, null, row.expire_time);
}

/**
 * Removes the binding on a customer that has a name, if it has expired and is in another org than the new one of that name: orgs of a
 * customer share the names. It is a write in that other org, in the same transaction, before the org of the new one is locked. Of an org
 * that can be purged, it is left to the purge.
 */
export async function removeExpiredOfOtherOrg(
  db: WriteTransaction,
  customerId: string,
  { name, orgId }: { readonly name: string; readonly orgId: string },
): Promise<void> {
  const named = await db
    .selectFrom("role_bindings")
    .select(["org_id", "id", "expire_time", clockMs.as("now")])
    // The orgs that have bindings on a customer are its own.
    .where("org_customer_id", "=", customerId)
    .where("scope_type", "=", "CUSTOMER")
    .where("scope_id", "=", customerId)
    .where("name", "=", name)
    .executeTakeFirst();
  if (named === undefined || named.org_id === orgId) return;
  if (named.expire_time === null || named.expire_time.getTime() > named.now) return;
  if (!(await lockOrgThatStays(db, named.org_id))) return;
  await writeInOrg(db, { org: { by: "id", value: named.org_id }, state: "any" }, purgeAuthor, async (transaction) => {
    const { lockTime } = transaction.org;
    const expired = await selectKeptRoleBindings(db)
      .where("role_bindings.org_id", "=", named.org_id)
      .where("role_bindings.id", "=", named.id)
      .where("role_bindings.expire_time", "<=", lockTime)
      .execute();
    await removeExpired(transaction, expired);
  });
}
