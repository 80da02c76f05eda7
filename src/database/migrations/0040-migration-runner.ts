import { type Kysely, sql } from "kysely";

/**
 * Creates the tables of Tenantry's own migrator. `migrations` has those from this one on; earlier ones stay in the table of Kysely, so
 * servers of earlier versions, which look only there, go on and can start again.
 */
export async function createMigrationRunner(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table migrations (
      name text primary key,
      requires text,
      time timestamptz not null default now()
    )`,
    `create table fills (
      name text primary key,
      last_key text[],
      rows bigint not null default 0,
      start_time timestamptz not null default now(),
      update_time timestamptz not null default now(),
      end_time timestamptz
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
