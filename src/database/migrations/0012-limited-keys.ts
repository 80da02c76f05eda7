import { type Kysely, sql } from "kysely";

/**
 * Adds the revision of the member's org up to which grants count for an API key; null if all count, as they do for existing
 * keys. A server of an earlier version counts all grants for every key.
 */
export async function limitKeys(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table api_keys add column grants_until uuid").execute(db);
}
