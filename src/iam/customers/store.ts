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

/**
 * Locks several customers, together with the next statement, in the order of their ids, which is the order for every transaction that
 * takes several locks.
 */
export function lockCustomers(db: WriteTransaction, ids: ReadonlySet<string>): void {
  if (ids.size === 0) return;
  const statement = sql`select id from customers where id = any (${[...ids]}::uuid[]) order by id for no key update`;
  db.sendWithNext(statement.compile(db));
}
