import { type Transaction, sql } from "kysely";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { lockCustomers } from "../customers/store.ts";

/**
 * Locks the customers of the orgs in which paths begin, before these orgs are locked, for writes that use the ledger:
 * `lockBefore` of the rules of a resource. The installation's own org is locked before its customer, as by writes to customers.
 */
export async function lockCustomersOf(
  db: Transaction<Schema>,
  paths: readonly (readonly Reference[])[],
): Promise<void> {
  const ids = new Set<string>();
  const systemOrgs: string[] = [];
  for (const [org] of paths) {
    if (org === undefined) continue;
    const found = await db
      .selectFrom("orgs")
      .select(["id", "customer_id"])
      .select(sql<boolean>`orgs.id = (select system_org_id from installation)`.as("is_system"))
      .where(matchesReference(orgLevel, org))
      .execute();
    for (const { id, customer_id: customerId, is_system: isSystem } of found) {
      if (isSystem) systemOrgs.push(id);
      ids.add(customerId);
    }
  }
  for (const id of systemOrgs) await sql`select id from orgs where id = ${id} for no key update`.execute(db);
  await lockCustomers(db, ids);
}
