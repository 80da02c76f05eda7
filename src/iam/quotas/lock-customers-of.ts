import type { Transaction } from "kysely";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { lockCustomers } from "../customers/store.ts";

/**
 * Locks the customers of the orgs in which paths begin, before these orgs are locked, for writes that use the ledger:
 * `lockBefore` of the rules of a resource.
 */
export async function lockCustomersOf(
  db: Transaction<Schema>,
  paths: readonly (readonly Reference[])[],
): Promise<void> {
  const ids = new Set<string>();
  for (const [org] of paths) {
    if (org === undefined) continue;
    const found = await db.selectFrom("orgs").select("customer_id").where(matchesReference(orgLevel, org)).execute();
    for (const { customer_id: id } of found) ids.add(id);
  }
  await lockCustomers(db, ids);
}
