import { type Compilable, type Expression, type SqlBool, sql } from "kysely";
import { type BatchOptions, type Lookup, createBatcher } from "../database/batch.ts";
import type { Database } from "../database/database.ts";
import { type NamedTable, matchesReference } from "../database/match-reference.ts";
import type { Reference } from "../paths/resource-path.ts";

/** Finds the row at a path; undefined when there is none. `-` is allowed where an id below it picks one row. */
export type PathLookup<Row> = (path: readonly Reference[]) => Promise<Row | undefined>;

/** A select of all rows of a kind, joined with those that their paths go through. */
export interface RowsQuery<Row> {
  where(condition: Expression<SqlBool>): Compilable<Row>;
}

/**
 * A batched lookup by path. All paths of one shape (which levels are names, which ids) that wait are found by one
 * statement: their values go in as arrays, one a level, and each row of them is joined with what it names.
 *
 * @param name names the statements; unique among lookups.
 * @param tables the tables of the path's levels, from the top.
 */
export function createPathLookup<Row>(
  database: Database,
  name: string,
  tables: readonly NamedTable[],
  rows: RowsQuery<Row>,
  batching?: BatchOptions,
): PathLookup<Row> {
  const byShape = new Map<string, Lookup<readonly Reference[], Row | undefined>>();

  const lookupFor = (path: readonly Reference[]): Lookup<readonly Reference[], Row | undefined> => {
    const shape = path.map((reference) => reference.by).join("_");
    let lookup = byShape.get(shape);
    if (lookup === undefined) {
      const statement = compileLookup(database, tables, path, rows);
      lookup = createBatcher(
        (paths) => readAll<Row>(database, `${name}_${shape}`, statement, tables.length, paths),
        batching,
      );
      byShape.set(shape, lookup);
    }
    return lookup;
  };

  return (path) => lookupFor(path)(path);
}

function compileLookup<Row>(
  database: Database,
  tables: readonly NamedTable[],
  shape: readonly Reference[],
  rows: RowsQuery<Row>,
): string {
  const conditions = tables.map((table, level) => {
    const reference = shape[level];
    if (reference === undefined) throw new Error(`a path of ${shape.length} levels for ${tables.length} tables`);
    return matchesReference(table, reference, sql.ref(`given.level_${level}`));
  });
  const found = rows.where(sql<SqlBool>`(${sql.join(conditions, sql` and `)})`);
  const arrays = tables.map((_table, level) => {
    const type = shape[level]?.by === "id" ? sql`uuid[]` : sql`text[]`;
    return sql`${null}::${type}`;
  });
  const columns = [...tables.map((_table, level) => sql.id(`level_${level}`)), sql.id("position")];
  const { sql: text } = sql`
    select given.position::int as given_position, found.*
    from unnest(${sql.join(arrays)}) with ordinality as given (${sql.join(columns)})
    cross join lateral (${found} limit 1) as found`.compile(database.reads);
  return text;
}

async function readAll<Row>(
  database: Database,
  name: string,
  text: string,
  levels: number,
  paths: readonly (readonly Reference[])[],
): Promise<(Row | undefined)[]> {
  const arrays = Array.from({ length: levels }, (_, level) =>
    paths.map((path) => {
      const reference = path[level];
      return reference !== undefined && reference.by !== "any" ? reference.value : null;
    }),
  );
  const found = await database.readPrepared<Row & { given_position: number }>(name, text, arrays);
  const rows = Array.from<Row | undefined>({ length: paths.length });
  for (const row of found) rows[row.given_position - 1] = row;
  return rows;
}
