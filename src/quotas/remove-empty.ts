import { type Transaction, sql } from "kysely";
import type { Schema } from "../database/schema.ts";

/** Removes the rows of a customer's scopes that have neither a limit nor usage. */
export async function removeEmpty(
  db: Transaction<Schema>,
  customerId: string,
  scopeIds: readonly string[],
): Promise<void> {
  await sql`
    delete from quotas
    where customer_id = ${customerId} and scope_id = any(${scopeIds}::uuid[])
      and maximum is null and used = 0 and reserved = 0`.execute(db);
}
