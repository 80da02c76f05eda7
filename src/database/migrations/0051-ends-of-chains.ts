import { type Kysely, sql } from "kysely";

/**
 * Adds where the chain of an org's entries ends. No row is written: the first write of an org begins its chain. A server of an earlier
 * version moves the head of the log and not the end of the chain, so the next write of this version begins another chain.
 */
export async function addEndsOfChains(db: Kysely<unknown>): Promise<void> {
  const columns = ["chain_revision uuid", "chain_start uuid", "chain_hash bytea"];
  await sql.raw(`alter table orgs ${columns.map((column) => `add column ${column}`).join(", ")}`).execute(db);
}
