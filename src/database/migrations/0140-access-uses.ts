import { type Kysely, sql } from "kysely";

/**
 * Creates the days on which something was last of use for access, and since when that is recorded. A server of the version before records
 * nothing; how long it serves beside this one does not matter after as many days as a finding needs.
 */
export async function createAccessUses(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // What was used may be gone: its row stays until it is old, so that no write waits for another one.
    `create table access_uses (
      customer_id uuid not null,
      org_id uuid not null,
      used_id uuid not null,
      part text not null,
      last_day timestamptz not null,
      primary key (org_id, used_id, part, customer_id)
    )`,
    `create index access_uses_by_day on access_uses (last_day)`,
    `create table use_recording (
      singleton boolean primary key default true check (singleton),
      since_time timestamptz not null,
      noted_time timestamptz not null
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
