// Removes what purged resources, orgs and customers leave in the ledger.
import { type SqlBool, type Transaction, sql } from "kysely";
import { type OrgKey, isInOrgOf } from "../database/org-key.ts";
import type { Schema } from "../database/schema.ts";
import { removeEmpty } from "./remove-empty.ts";
import { deletePlaces, lockPlaces } from "../database/places.ts";

type Db = Transaction<Schema>;

/**
 * Removes allocations of an org by their locations, and what they hold of the quotas of all levels, and returns how many. The customer and
 * the org are locked.
 */
export async function removeAllocations(db: Db, org: OrgKey, places: readonly string[]): Promise<number> {
  if (places.length === 0) return 0;
  const { customer_id: customerId, id: orgId } = org;
  const { rows } = await sql<{ count: number; project_ids: string[] | null }>`
    with removed as (
      delete from allocations where ctid = any (${places}::tid[]) and ${isInOrgOf("allocations", org)}
      returning project_id, kind, used, reserved
    ),
    sums as (
      select level.scope_id, kind, sum(used) as used, sum(reserved) as reserved
      from removed cross join lateral (values (${customerId}::uuid), (${orgId}::uuid), (project_id)) as level (scope_id)
      group by level.scope_id, kind
    ),
    updated as (
      update quotas set used = quotas.used - sums.used, reserved = quotas.reserved - sums.reserved from sums
      where quotas.customer_id = ${customerId} and quotas.scope_id = sums.scope_id and quotas.kind = sums.kind
    )
    select count(*)::int as count, array_agg(distinct project_id) as project_ids from removed`.execute(db);
  const [found] = rows;
  if (found === undefined || found.count === 0) return 0;
  await removeEmpty(db, customerId, [customerId, orgId, ...(found.project_ids ?? [])]);
  return found.count;
}

/** Removes up to `limit` quotas of scopes in an org, to which no allocation adds any longer, and returns how many. */
export async function removeQuotas(db: Db, org: OrgKey, scopeIds: readonly string[], limit: number): Promise<number> {
  const ofScopes = sql<SqlBool>`scope_id = any (${scopeIds}::uuid[])`;
  return deletePlaces(db, "quotas", org, await lockPlaces(db, "quotas", org, ofScopes, limit));
}

/** Removes the quotas of a customer. */
export async function removeQuotasOfCustomer(db: Db, customerId: string): Promise<void> {
  await sql`delete from quotas where customer_id = ${customerId} and scope_id = ${customerId}`.execute(db);
}
