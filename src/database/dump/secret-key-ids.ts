import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { tableExists } from "../table-exists.ts";

/** The columns that a secret key encrypts. A table may be missing in a database of an earlier version, and then its columns are. */
const sealedColumns: readonly (readonly [table: keyof Schema, column: string])[] = [
  ["event_streams", "sealed_authorization"],
  ["identity_providers", "sealed_secret"],
  ["signing_keys", "sealed_key"],
  ["webhooks", "sealed_previous_secret"],
  ["webhooks", "sealed_secret"],
];

/** Returns the ids of the secret keys with which something in the database is encrypted, as `keyIds` of a sealer has them. */
export async function readSecretKeyIds(db: Kysely<Schema>): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const [table, column] of sealedColumns) {
    const { rows: found } = await sql<{ isThere: boolean }>`
      select ${tableExists(sql`${table}`)} as "isThere"`.execute(db);
    if (found[0]?.isThere !== true) continue;
    // What is sealed begins with the version of its form, and 8 bytes of the id.
    const { rows } = await sql<{ id: string }>`
      select distinct encode(substring(${sql.ref(column)} from 2 for 8), 'hex') as id
      from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
    for (const { id } of rows) ids.add(id);
  }
  return [...ids].toSorted();
}
