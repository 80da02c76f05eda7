import { type Kysely, sql } from "kysely";

/** Adds the issuer of the server that has started last. Servers of an earlier version do not write it. */
export async function addIssuer(db: Kysely<unknown>): Promise<void> {
  await sql`alter table installation add column issuer text`.execute(db);
}
