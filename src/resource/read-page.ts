import { type Compilable, type Expression, type Kysely, type SqlBool, sql } from "kysely";
import { type NamedTable, matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import { comesAfter, orderExpressions } from "../filters/keyset.ts";
import type { RowsQuery } from "./path-lookup.ts";
import type { Selection } from "./standard-methods.ts";

/** How the rows of a kind are listed. */
export interface Listing<Row> {
  /** All rows of the kind, joined with those that their paths go through. */
  readonly rows: RowsQuery<Row>;
  /** The tables of the parent path's levels, from the top. */
  readonly parentTables: readonly NamedTable[];
  /** Rows for which this does not hold are left out, unless deleted ones are asked for. */
  readonly live?: Expression<SqlBool>;
}

/** Reads the rows of a page: the first ones below the parent that are asked for and come after the cursor, by key. */
export async function readPage<Row>(db: Kysely<Schema>, listing: Listing<Row>, selection: Selection): Promise<Row[]> {
  const { parent, condition, order, after, limit, showDeleted } = selection;
  const conditions = [
    matchesPath(listing.parentTables, parent),
    comesAfter(order, after),
    condition,
    ...(listing.live === undefined || showDeleted ? [] : [listing.live]),
  ];
  const found = listing.rows.where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`);
  const { rows } = await sql<Row>`
    select * from ${asExpression(found)} as found order by ${orderExpressions(order, "found")} limit ${limit}`.execute(
    db,
  );
  return rows;
}

/** Kysely's builders are expressions; the narrow type that they come in here does not say so. */
function asExpression<Row>(query: Compilable<Row>): Expression<Row> {
  return query as unknown as Expression<Row>;
}
