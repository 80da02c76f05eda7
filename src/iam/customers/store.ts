import { type InferResult, type Kysely, sql } from "kysely";
import { columnsOf, deletableColumns, namedColumns } from "../../database/columns.ts";
import { customerLevel, matchesReference } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

export type CustomerRow = InferResult<ReturnType<typeof selectCustomers>>[number];

export const customerColumns = [...namedColumns, ...deletableColumns] as const;

export function selectCustomers(db: Kysely<Schema>) {
  return db.selectFrom("customers").select(columnsOf("customers", customerColumns));
}

/** Finds a customer and locks it until the transaction ends: others cannot change it or add orgs to it. */
export function lockCustomer(db: WriteTransaction, reference: Reference): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where(matchesReference(customerLevel, reference))
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
}
