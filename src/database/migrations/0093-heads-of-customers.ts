import { type Kysely, sql } from "kysely";

/** What a customer has in the place of a revision before its log has an entry: the number 0. */
const noRevision = "00000000-0000-0000-0000-000000000000";

/**
 * Adds the head of the log of a customer, and where its chain ends. No row is written. A server of an earlier version writes the changes of
 * customers to the log of the org `system`, and does not look at these columns.
 */
export async function addHeadsOfCustomers(db: Kysely<unknown>): Promise<void> {
  const columns = [
    `revision uuid not null default '${noRevision}'`,
    "revision_time timestamptz not null default '1970-01-01 00:00:00+00'",
    "chain_revision uuid",
    "chain_start uuid",
    "chain_hash bytea",
  ];
  await sql.raw(`alter table customers ${columns.map((column) => `add column ${column}`).join(", ")}`).execute(db);
}

/**
 * Adds whether customers have logs of their own. Servers of the version before learn from the log of the org `system` that what they keep of
 * a customer has changed, so in an installation that they have served, the next version sets it.
 */
export async function addUseOfCustomerLogs(db: Kysely<unknown>): Promise<void> {
  await sql`alter table installation add column customer_logs boolean not null default false`.execute(db);
}
