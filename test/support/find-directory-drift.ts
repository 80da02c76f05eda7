import { type Kysely, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";

/** Returns what the directory lacks or has wrongly, each with the place that it has and that of the row; null for none. */
export async function findDirectoryDrift(db: Kysely<Schema>): Promise<object[]> {
  const { rows } = await sql<object>`
    with found as (
      select 'Customer' as resource_type, name, id as customer_id, null::uuid as org_id from customers
      union all select 'Org', name, customer_id, id from orgs
      union all select 'Org', id::text, customer_id, id from orgs
      union all select 'ApiKey', prefix, customer_id, org_id from api_keys
    )
    select resource_type, name, array[kept.customer_id, kept.org_id] as kept, array[found.customer_id, found.org_id] as found
    from directory as kept full join found using (resource_type, name)
    where (kept.customer_id, kept.org_id) is distinct from (found.customer_id, found.org_id)`.execute(db);
  return rows;
}
