import { type Transaction, sql } from "kysely";
import { heldBack } from "../../database/held-back.ts";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import type { Reference } from "../../paths/parse-path.ts";

/**
 * Locks the customers of the orgs in which paths begin, before these orgs are locked, for writes that use the ledger:
 * `lockBefore` of the rules of a resource. The installation's own org is locked before its customer, as by writes to customers.
 */
export async function lockCustomersOf(
  db: Transaction<Schema>,
  paths: readonly (readonly Reference[])[],
): Promise<void> {
  const named = paths.flatMap(([org]) => (org === undefined ? [] : [matchesReference(orgLevel, org)]));
  if (named.length === 0) return;
  // The customers are read when the count is known, so when the org is locked.
  await sql`
    with found as materialized (
      select id, customer_id, id = (select system_org_id from installation) as is_system from orgs
      where ${sql.join(named, sql` or `)}
    ), system as materialized (
      select id from orgs where id in (select id from found where is_system) for no key update
    )
    select id from customers
    where id in (select customer_id from found) and (select count(*) from system) >= 0
    order by id for no key update ${heldBack}`.execute(db);
}
