import { type Kysely, sql } from "kysely";

/**
 * Adds what entries of the change log have from format 4 on: their place in the chain of their org, on which timeline of the database,
 * for whom and by what they were made,
 * and what contains the resource. No row is written. A server of an earlier version leaves all of it null.
 */
export async function chainEntries(db: Kysely<unknown>): Promise<void> {
  const columns = [
    "chain_start uuid",
    "hash bytea",
    "salt bytea",
    "erased jsonb",
    "timeline integer",
    "delegate_id uuid",
    "delegation_id uuid",
    "source text",
    "source_id uuid",
    "container_id uuid",
  ];
  // PostgreSQL counts timelines in 32 bits.
  const rule = "-- squawk-ignore prefer-bigint-over-int";
  await sql
    .raw(`${rule}\nalter table changes ${columns.map((column) => `add column ${column}`).join(", ")}`)
    .execute(db);
}
