import { type RawBuilder, type Transaction, sql } from "kysely";
import type { Schema } from "./schema.ts";

/**
 * Yields the rows of a statement in chunks. The server keeps what it has found, on disk if it is much.
 *
 * @param db a transaction, which is not used for something else meanwhile.
 */
export async function* readInChunks<Row>(
  db: Transaction<Schema>,
  statement: RawBuilder<Row>,
  chunkSize: number,
): AsyncIterable<readonly Row[]> {
  // All rows are read, so the first ones need not come early.
  await sql`select set_config('cursor_tuple_fraction', '1', true)`.execute(db);
  await sql`declare chunks no scroll cursor for ${statement}`.execute(db);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(chunkSize)} from chunks`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < chunkSize) break;
  }
  await sql`close chunks`.execute(db);
}
