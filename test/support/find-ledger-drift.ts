import { type Kysely, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";

/** Returns the quotas that are not the sums of the allocations below them; what is used without a quota, too. */
export async function findLedgerDrift(db: Kysely<Schema>): Promise<object[]> {
  const { rows } = await sql<object>`
    with sums as (
      select orgs.customer_id, level.scope_id, kind, sum(used) as used, sum(allocations.reserved) as reserved
      from allocations join orgs on orgs.id = allocations.org_id
      cross join lateral (values (orgs.customer_id), (orgs.id), (allocations.project_id)) as level (scope_id)
      group by orgs.customer_id, level.scope_id, kind
    )
    select customer_id, scope_id, kind, quotas.used, quotas.reserved, sums.used as sum_used, sums.reserved as sum_reserved
    from quotas full join sums using (customer_id, scope_id, kind)
    where (coalesce(quotas.used, 0), coalesce(quotas.reserved, 0)) <> (coalesce(sums.used, 0), coalesce(sums.reserved, 0))
      or (quotas.kind is null) or (maximum is null and quotas.used + quotas.reserved = 0)`.execute(db);
  return rows;
}
