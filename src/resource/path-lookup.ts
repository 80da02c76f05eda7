import { type Compilable, CompiledQuery, type Expression, type SqlBool, type Transaction, sql } from "kysely";
import { type BatchOptions, type Lookup, createBatcher } from "../database/batch.ts";
import type { Database } from "../database/database.ts";
import { type PathLevel, matchesReference } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";

/** Finds the row at a path; undefined when there is none. `-` is allowed where an id below it picks one row. */
export interface PathLookup<Row> {
  (path: readonly Reference[]): Promise<Row | undefined>;
  /** Finds all of them inside a transaction, by a statement for each shape of path. */
  readonly all: (db: Transaction<Schema>, paths: readonly (readonly Reference[])[]) => Promise<(Row | undefined)[]>;
}

/** A select of all rows of a kind, joined with those that their paths go through. */
export interface RowsQuery<Row> {
  where(condition: Expression<SqlBool>): Compilable<Row> & { executeTakeFirst(): Promise<Row | undefined> };
}

/** What a lookup finds. */
export interface LookupTarget<Row> {
  /** Names the statements; unique among lookups. */
  readonly name: string;
  /** The levels of the paths, from the top. */
  readonly levels: readonly PathLevel[];
  readonly rows: RowsQuery<unknown>;
  /** The columns of the rows to answer; all of them by default. */
  readonly columns?: readonly (string & keyof Row)[];
}

/** PostgreSQL takes no more of a prepared statement's name into account. */
const maxNameLength = 63;
/** A name ends with how each level is given: `_name`. */
const shapePerLevel = 5;

/**
 * A batched lookup by path. All paths of one shape (which levels are names, which ids) that wait are found by one
 * statement: their values go in as arrays, one a level, and each row of them is joined with what it names.
 */
export function createPathLookup<Row>(
  database: Database,
  target: LookupTarget<Row>,
  batching?: BatchOptions,
): PathLookup<Row> {
  const { name, levels } = target;
  if (name.length + levels.length * shapePerLevel > maxNameLength) throw new Error(`the name ${name} is too long`);
  const statements = new Map<string, string>();
  const byShape = new Map<string, Lookup<readonly Reference[], Row | undefined>>();

  const statementFor = (path: readonly Reference[]): string => {
    const shape = shapeOf(path);
    const statement = statements.get(shape) ?? compileLookup(database, target, path);
    statements.set(shape, statement);
    return statement;
  };

  const lookupFor = (path: readonly Reference[]): Lookup<readonly Reference[], Row | undefined> => {
    const shape = shapeOf(path);
    let lookup = byShape.get(shape);
    if (lookup === undefined) {
      const statement = statementFor(path);
      lookup = createBatcher(async (paths) => {
        const values = valuesOf(paths, levels.length);
        return placeRows(paths, await database.readPrepared<Found<Row>>(`${name}_${shape}`, statement, values));
      }, batching);
      byShape.set(shape, lookup);
    }
    return lookup;
  };

  const findAll: PathLookup<Row>["all"] = async (db, paths) => {
    const all = Array.from<Row | undefined>({ length: paths.length });
    for (const indexes of Map.groupBy(paths.keys(), (index) => shapeOf(paths[index] ?? [])).values()) {
      const alike = indexes.map((index) => paths[index] ?? []);
      const statement = CompiledQuery.raw(statementFor(alike[0] ?? []), valuesOf(alike, levels.length));
      const found = placeRows(alike, (await db.executeQuery<Found<Row>>(statement)).rows);
      for (const [position, index] of indexes.entries()) all[index] = found[position];
    }
    return all;
  };

  return Object.assign((path: readonly Reference[]) => lookupFor(path)(path), { all: findAll });
}

/** A row and which of the given paths found it, from 1. */
type Found<Row> = Row & { readonly given_position: number };

const shapeOf = (path: readonly Reference[]): string => path.map((reference) => reference.by).join("_");

function compileLookup<Row>(
  database: Database,
  { levels, rows, columns }: LookupTarget<Row>,
  shape: readonly Reference[],
): string {
  const conditions = levels.map((level, index) => {
    const reference = shape[index];
    if (reference === undefined) throw new Error(`a path of ${shape.length} levels for ${levels.length} tables`);
    return matchesReference(level, reference, sql.ref(`given.level_${index}`));
  });
  const found = rows.where(sql<SqlBool>`(${sql.join(conditions, sql` and `)})`);
  const arrays = levels.map((_level, index) => {
    const type = shape[index]?.by === "id" ? sql`uuid[]` : sql`text[]`;
    return sql`${null}::${type}`;
  });
  const given = [...levels.map((_level, index) => sql.id(`level_${index}`)), sql.id("position")];
  const answered = columns === undefined ? sql`found.*` : sql.join(columns.map((column) => sql.ref(`found.${column}`)));
  const { sql: text } = sql`
    select given.position::int as given_position, ${answered}
    from unnest(${sql.join(arrays)}) with ordinality as given (${sql.join(given)})
    cross join lateral (${found} limit 1) as found`.compile(database.reads);
  return text;
}

/** The values of the paths' references, an array for each level. */
function valuesOf(paths: readonly (readonly Reference[])[], count: number): (string | null)[][] {
  return Array.from({ length: count }, (_, level) =>
    paths.map((path) => {
      const reference = path[level];
      return reference !== undefined && reference.by !== "any" ? reference.value : null;
    }),
  );
}

function placeRows<Row>(paths: readonly unknown[], found: readonly Found<Row>[]): (Row | undefined)[] {
  const rows = Array.from<Row | undefined>({ length: paths.length });
  for (const row of found) rows[row.given_position - 1] = row;
  return rows;
}
