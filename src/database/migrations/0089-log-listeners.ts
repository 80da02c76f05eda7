import { type Kysely, sql } from "kysely";

/**
 * Creates the servers that listen for hints (src/database/hints.ts). Older servers send hints to all, and have no row when they listen, so
 * that their streams look each second.
 */
export async function createLogListeners(db: Kysely<unknown>): Promise<void> {
  await sql`create table log_listeners (id uuid primary key, end_time timestamptz not null)`.execute(db);
}
