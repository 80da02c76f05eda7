import type { Kysely } from "kysely";
import type { Index } from "../migration/migration.ts";
import { declareIndexes } from "./0052-log-indexes.ts";

/** The index with which a page of the log of a customer costs what the page costs, however many orgs it has. */
export const customerLogIndexes: readonly Index[] = [
  { name: "changes_by_customer", definition: "on changes (customer_id, time)", isPartitioned: true },
];

/** Declares the index, as 0052 does with the others. Older servers write into it and do not use it. */
export function declareCustomerLogIndex(db: Kysely<unknown>): Promise<void> {
  return declareIndexes(db, customerLogIndexes);
}
