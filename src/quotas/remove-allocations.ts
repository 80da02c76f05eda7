// Removes what purged resources, orgs and customers leave in the ledger.
import { type SqlBool, type Transaction, sql } from "kysely";
import type { Schema } from "../database/schema.ts";
import { nowhere } from "../filters/label-index.ts";
import { removeEmpty } from "./remove-empty.ts";
import { deletePlaces, lockPlaces } from "../database/places.ts";

type Db = Transaction<Schema>;

/**
 * Removes allocations of an org by their locations, and what they hold of the quotas of all levels, and returns how many. The customer and
 * the org are locked.
 */
export async function removeAllocations(db: Db, orgId: string, places: readonly string[]): Promise<number> {
  if (places.length === 0) return 0;
  const { rows } = await sql<{ count: number; customer_id: string; project_ids: string[] | null }>`
    with customer as (select customer_id from orgs where id = ${orgId}),
    removed as (
      delete from allocations where ctid = any (${places}::tid[]) and org_id = ${orgId}
      returning project_id, kind, used, reserved
    ),
    sums as (
      select level.org_id, level.scope_id, kind, sum(used) as used, sum(reserved) as reserved
      from removed cross join customer
      cross join lateral (values
        (${nowhere}::uuid, customer_id), (${orgId}::uuid, ${orgId}::uuid), (${orgId}::uuid, project_id)
      ) as level (org_id, scope_id)
      group by level.org_id, level.scope_id, kind
    ),
    updated as (
      update quotas set used = quotas.used - sums.used, reserved = quotas.reserved - sums.reserved from sums
      where quotas.org_id = sums.org_id and quotas.scope_id = sums.scope_id and quotas.kind = sums.kind
    )
    select (select count(*)::int from removed) as count, customer_id,
      (select array_agg(distinct project_id) from removed) as project_ids
    from customer`.execute(db);
  const [found] = rows;
  if (found === undefined || found.count === 0) return 0;
  const { customer_id: customerId, project_ids: projectIds } = found;
  await removeEmpty(db, [
    { orgId: nowhere, id: customerId },
    ...[orgId, ...(projectIds ?? [])].map((id) => ({ orgId, id })),
  ]);
  return found.count;
}

/** Removes up to `limit` quotas of scopes in an org, to which no allocation adds any longer, and returns how many. */
export async function removeQuotas(db: Db, orgId: string, scopeIds: readonly string[], limit: number): Promise<number> {
  const ofScopes = sql<SqlBool>`scope_id = any (${scopeIds}::uuid[])`;
  return deletePlaces(db, "quotas", orgId, await lockPlaces(db, "quotas", orgId, ofScopes, limit));
}

/** Removes the quotas of a customer. */
export async function removeQuotasOfCustomer(db: Db, customerId: string): Promise<void> {
  await sql`delete from quotas where org_id = ${nowhere} and scope_id = ${customerId}`.execute(db);
}
