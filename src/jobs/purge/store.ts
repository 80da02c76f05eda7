// Statements that lock and remove what can be purged.
import { type SqlBool, sql } from "kysely";
import { customerDefinition } from "../../iam/customers/definition.ts";
import { type CustomerRow, selectCustomers } from "../../iam/customers/store.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { removeAllocations, removeQuotas, removeQuotasOfCustomer } from "../../quotas/remove-allocations.ts";
import { type OrgRow, selectOrgs } from "../../iam/orgs/store.ts";
import { removeSummaries } from "../../iam/usage/remove-summaries.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { forgetCounts } from "../../standard-methods/rows/counts.ts";
import { removeWhere } from "../../standard-methods/rows/remove-rows.ts";
import { idOf, isOneOf, labelPlaceOf, led } from "../../standard-methods/rows/row-key.ts";
import { hasNoOrg, isPastCustomer, isPurgeable } from "./purge-conditions.ts";
import { type RowPlace, findRowsOfOrg } from "./find-purgeable.ts";
import { type OrgTable, rowsOfMembers } from "./org-tables.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { readClock } from "../../database/clock.ts";
import { deletePlaces, lockPlaces } from "../../database/places.ts";

type Db = WriteTransaction;
type Ids = readonly string[];

/** Locks an org that can be purged. Returns undefined if it no longer can, or if another transaction has the lock. */
export async function lockPurgeableOrg(db: Db, registry: ResourceRegistry, orgId: string): Promise<OrgRow | undefined> {
  const now = await readClock(db);
  return selectOrgs(db)
    .where("orgs.id", "=", orgId)
    .where(isPurgeable(now, registry, orgDefinition))
    .modifyEnd(sql`for update of orgs skip locked`)
    .executeTakeFirst();
}

/** Does the same for a customer. Also returns undefined if the customer has an org. */
export function lockPurgeableCustomer(
  { db, org }: OrgTransaction,
  customerId: string,
): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where("id", "=", customerId)
    .where(isPastCustomer(org.lockTime))
    .where(hasNoOrg)
    .modifyEnd(sql`for update skip locked`)
    .executeTakeFirst();
}

export async function readPurgeable(
  { db, org }: OrgTransaction,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  ids: Ids,
): Promise<object[]> {
  const { table, id, select } = definition.storage;
  const isWanted = sql<SqlBool>`${sql.ref(`${table}.org_id`)} = ${org.id}
    and ${sql.ref(`${table}.${id}`)} = ${anyOf(ids)} and ${isPurgeable(org.lockTime, registry, definition)}`;
  const { rows } = await db.executeQuery(select(db).where(isWanted).compile());
  return rows as object[];
}

/**
 * Removes up to `limit` rows that refer to rows of a resource, the most distant first, and returns how many. If they are fewer,
 * none is left: it waits for rows that another transaction writes, such as the last use of an API key.
 */
export async function removeOwnedRows(
  db: Db,
  registry: ResourceRegistry,
  owner: ResourceDefinition,
  org: OrgKey,
  owners: readonly object[],
  limit: number,
): Promise<number> {
  const ids = owners.map((row) => idOf(owner, row));
  let removed = await removeOtherRows(db, owner, org, ids, limit);
  for (const { definition, column } of registry.dependentsOf(owner.type)) {
    if (removed >= limit) break;
    const { table } = definition.storage;
    const { rows } = await sql<object & { place: string }>`
      select *, ctid::text as place from ${sql.table(table)}
      where ${led(definition, org, sql`org_id = ${org.id} and ${sql.ref(column)} = ${anyOf(ids)}`)}
      limit ${limit - removed} for update`.execute(db);
    if (rows.length === 0) continue;
    removed += await removeOwnedRows(db, registry, definition, org, rows, limit - removed);
    const doomed = rows.slice(0, limit - removed);
    await removePurgeable(db, registry, definition, org, doomed);
    removed += doomed.length;
  }
  return removed;
}

/** Removes rows of resources that are no resources themselves. */
async function removeOtherRows(
  db: Db,
  { type }: ResourceDefinition,
  org: OrgKey,
  ids: Ids,
  limit: number,
): Promise<number> {
  if (type === "Member") return deleteOtherRowsOfMembers(db, org, ids, limit);
  if (type !== "Project") return 0;
  const allocations = await lockPlaces(db, "allocations", org, sql`project_id = ${anyOf(ids)}`, limit);
  const freed = await removeAllocations(db, org, allocations);
  return freed < limit ? freed + (await removeQuotas(db, org, ids, limit - freed)) : freed;
}

async function deleteOtherRowsOfMembers(db: Db, org: OrgKey, ids: Ids, limit: number): Promise<number> {
  let deleted = 0;
  for (const { table, column } of rowsOfMembers) {
    const theirs = sql<SqlBool>`${sql.ref(column)} = ${anyOf(ids)}`;
    deleted += await deletePlaces(db, table, org, await lockPlaces(db, table, org, theirs, limit - deleted));
  }
  return deleted;
}

/** Removes rows to which nothing refers any longer. */
export async function removePurgeable(
  db: Db,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  org: OrgKey,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  await removeWhere(db, definition, org, isOneOf(definition, rows));
  if (!registry.isReferredTo(definition.type)) return;
  forgetCounts(
    db,
    org,
    rows.map((row) => idOf(definition, row)),
  );
}

/** Deletes rows of an org by their locations and returns how many. Rows that have moved are left to a later batch. */
export async function deleteRowsOfOrg(db: Db, org: OrgKey, rows: readonly RowPlace[]): Promise<number> {
  let deleted = 0;
  for (const [table, found] of Map.groupBy(rows, (row) => row.table)) {
    const places = found.map(({ place }) => place);
    if (table === "allocations") {
      // What the org used of the quota of its customer is free again.
      deleted += await removeAllocations(db, org, places);
      continue;
    }
    deleted += await deletePlaces(db, table, org, places);
  }
  return deleted;
}

export async function hasChanges(db: Db, org: OrgKey): Promise<boolean> {
  const change = await db
    .selectFrom("changes")
    .select("org_id")
    .where("customer_id", "=", org.customer_id)
    .where("org_id", "=", org.id)
    .limit(1)
    .executeTakeFirst();
  return change !== undefined;
}

/** Removes up to `limit` rows of what the usage of the customer was summed up to with the org, and returns how many. */
export function removeUsageWith(db: Db, { customer_id, id }: OrgKey, limit: number): Promise<number> {
  const customer = { customer_id, id: customer_id };
  return removeSummaries(db, customer, sql<SqlBool>`${id} = any (orgs)`, limit);
}

export async function removeOrg(db: Db, org: OrgRow): Promise<void> {
  // What is noted for a webhook of the customer, what usage is summed up to, and states of then may have come since the org was emptied.
  for (const table of ["webhook_logs", "usage_sums", "usage_summaries", "past_states"] as const) {
    await db.deleteFrom(table).where("customer_id", "=", org.customer_id).where("org_id", "=", org.id).execute();
  }
  const place = labelPlaceOf(orgDefinition, undefined, org);
  await removeWhere(db, orgDefinition, place, isOneOf(orgDefinition, [org]));
}

/** The tables with rows of a customer itself: what its usage is summed up to, its webhooks and contacts, and what is known of them. It has the place of an org there. */
const tablesOfCustomers = [
  "usage_sums",
  "usage_summaries",
  "webhook_deliveries",
  "webhook_logs",
  "webhooks",
  "contact_links",
  "contact_warnings",
  "contacts",
  "resource_labels",
  "resource_counts",
] as const satisfies readonly OrgTable[];

/** Deletes up to `limit` rows of a customer that has no orgs any more, and returns how many. */
export async function emptyCustomer(db: Db, customerId: string, limit: number): Promise<number> {
  const customer = { customer_id: customerId, id: customerId };
  return deleteRowsOfOrg(db, customer, await findRowsOfOrg(db, tablesOfCustomers, customer, limit));
}

export async function removeCustomer(db: Db, customer: CustomerRow): Promise<void> {
  await removeQuotasOfCustomer(db, customer.id);
  // Also of orgs that a server purged which did not know of them.
  for (const table of ["webhook_logs", "webhook_deliveries", "usage_sums", "usage_summaries", "past_states"] as const) {
    await db.deleteFrom(table).where("customer_id", "=", customer.id).execute();
  }
  const place = labelPlaceOf(customerDefinition, undefined, customer);
  await removeWhere(db, customerDefinition, place, isOneOf(customerDefinition, [customer]));
}

const anyOf = (ids: Ids) => sql<string>`any(${ids}::uuid[])`;
