import { type Kysely, sql } from "kysely";

/** Drops what told servers whether customers have logs of their own: all do, and none asks that knows migration 0123. */
export async function dropUseOfCustomerLogs(db: Kysely<unknown>): Promise<void> {
  await sql.raw("-- squawk-ignore ban-drop-column\nalter table installation drop column customer_logs").execute(db);
}
