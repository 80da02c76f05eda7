import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { type Kysely, sql } from "kysely";
import pg from "pg";
import copy from "pg-copy-streams";
import type { Schema } from "../schema.ts";
import { type TableEnd, type TableHead, damaged } from "./manifest.ts";

/** A table of the database, with the columns that are stored. */
export interface CopiedTable extends TableHead {
  /** Those whose order depends on a collation. */
  readonly collated: readonly string[];
}

/** Reads the tables of the schema that are no partitions of others and of no extension, by their names. */
export async function readTables(db: Kysely<Schema>): Promise<readonly CopiedTable[]> {
  const { rows } = await sql<CopiedTable>`
    select relname as table,
      (select coalesce(array_agg(attname::text order by attnum), '{}') from pg_attribute
        where attrelid = tables.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(array_agg(attname::text order by attnum), '{}') from pg_attribute
        where attrelid = tables.oid and attnum > 0 and not attisdropped and attcollation <> 0) as collated,
      (select coalesce(array_agg(attname::text order by position), '{}')
        from pg_index, unnest(indkey::smallint[]) with ordinality as keys (number, position)
          join pg_attribute on attnum = number
        where indrelid = tables.oid and attrelid = tables.oid and indisprimary) as key
    from pg_class as tables
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and not exists (select from pg_depend where objid = tables.oid and deptype = 'e')
    order by relname`.execute(db);
  return rows;
}

const quote = pg.escapeIdentifier;

/** Reads the rows of a table as text, in the order of its key. The stream fails if the statement does. */
export function copyRows(client: pg.Client, { table, columns, collated, key }: CopiedTable): AsyncIterable<Buffer> {
  // The order of the database's own collation is another one elsewhere.
  const order =
    key.length === 0
      ? columns.map((column) => `${quote(column)}::text collate "C"`)
      : key.map((column) => `${quote(column)}${collated.includes(column) ? ' collate "C"' : ""}`);
  const select = `select ${columns.map(quote).join(", ")} from ${quote(table)} order by ${order.join(", ")}`;
  return client.query(copy.to(`copy (${select}) to stdout`));
}

/** Writes rows into a table. Resolves when the server has them. @throws DumpError DAMAGED for what are no rows of it. */
export async function loadRows(client: pg.Client, head: TableHead, rows: AsyncIterable<Buffer>): Promise<void> {
  const into = `${quote(head.table)} (${head.columns.map(quote).join(", ")})`;
  try {
    await pipeline(rows, client.query(copy.from(`copy ${into} from stdin`)));
  } catch (error) {
    // No text of a value, no value for a column, or no column: the database finds it before the hash of the rows is complete.
    if (error instanceof pg.DatabaseError && /^(22|23|42)/.test(error.code ?? ""))
      throw damaged(`the rows of ${head.table} cannot be read: ${error.message}`, error);
    throw error;
  }
}

/** Counts rows, and hashes their text. */
export interface RowDigest {
  readonly add: (chunk: Buffer) => void;
  readonly end: () => TableEnd;
}

const newline = 10;

export function digestRows(): RowDigest {
  const hash = createHash("sha256");
  let rows = 0;
  return {
    add(chunk) {
      hash.update(chunk);
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) rows++;
    },
    end: () => ({ rows, sha256: hash.digest("hex") }),
  };
}

/** Reads the rows of a table again, for their number and hash. */
export async function digestTable(client: pg.Client, table: CopiedTable): Promise<TableEnd> {
  const digest = digestRows();
  for await (const chunk of copyRows(client, table)) digest.add(chunk);
  return digest.end();
}
