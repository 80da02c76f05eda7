import { type Compilable, type Expression, type Kysely, type SqlBool, sql } from "kysely";
import { type NamedTable, matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { RowsQuery } from "./path-lookup.ts";
import type { Cursor } from "./page-token.ts";
import type { Selection } from "./standard-methods.ts";

/** How the rows of a kind are listed. */
export interface Listing<Row> {
  /** All rows of the kind, joined with those that their paths go through. */
  readonly rows: RowsQuery<Row>;
  /** The tables of the parent path's levels, from the top. */
  readonly parentTables: readonly NamedTable[];
  /** The table and its columns that order the list; together they are unique and never change. */
  readonly table: keyof Schema;
  readonly keys: readonly string[];
  /** Rows for which this does not hold are left out, unless deleted ones are asked for. */
  readonly live?: Expression<SqlBool>;
}

/** Reads the rows of a page: the first ones below the parent that come after the cursor, by key. */
export async function readPage<Row>(db: Kysely<Schema>, listing: Listing<Row>, selection: Selection): Promise<Row[]> {
  const conditions = [
    matchesPath(listing.parentTables, selection.parent),
    comesAfter(
      listing.keys.map((key) => `${listing.table}.${key}`),
      selection.after,
    ),
    ...(listing.live === undefined || selection.showDeleted ? [] : [listing.live]),
  ];
  const found = listing.rows.where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`);
  const order = sql.join(listing.keys.map((key) => sql.ref(`found.${key}`)));
  const { rows } = await sql<Row>`
    select * from ${asExpression(found)} as found order by ${order} limit ${selection.limit}`.execute(db);
  return rows;
}

function comesAfter(columns: readonly string[], cursor: Cursor | undefined): Expression<SqlBool> {
  if (cursor === undefined) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${sql.join(columns.map((column) => sql.ref(column)))}) > (${sql.join([...cursor])})`;
}

/** Kysely's builders are expressions; the narrow type that they come in here does not say so. */
function asExpression<Row>(query: Compilable<Row>): Expression<Row> {
  return query as unknown as Expression<Row>;
}
