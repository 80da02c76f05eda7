import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { keyIdInColumn, sealedColumns } from "../sealed-columns.ts";
import { tableExists } from "../table-exists.ts";

/**
 * Returns the ids of the secret keys with which something in the database is encrypted, as `keyIds` of a sealer has them. A table may be
 * missing in a database of an earlier version.
 */
export async function readSecretKeyIds(db: Kysely<Schema>): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const [table, column] of sealedColumns) {
    const { rows: found } = await sql<{ isThere: boolean }>`
      select ${tableExists(sql`${table}`)} as "isThere"`.execute(db);
    if (found[0]?.isThere !== true) continue;
    const { rows } = await sql<{ id: string }>`
      select distinct ${keyIdInColumn(column)} as id
      from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
    for (const { id } of rows) ids.add(id);
  }
  return [...ids].toSorted();
}
