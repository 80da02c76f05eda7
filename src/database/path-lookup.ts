import {
  type Compilable,
  CompiledQuery,
  type Expression,
  type Kysely,
  type SqlBool,
  type Transaction,
  sql,
} from "kysely";
import { type BatchOptions, type Lookup, createBatcher } from "./batch.ts";
import type { Database } from "./database.ts";
import { type PathLevel, matchesPath, matchesReference } from "./match-reference.ts";
import type { Schema } from "./schema.ts";
import { type StatementTemplate, createStatementTemplate } from "./statement-template.ts";
import type { Later, WriteTransaction } from "./write-transaction.ts";
import type { Reference } from "../paths/parse-path.ts";

export interface LookupInTransaction<Row> {
  /** Looks up several rows inside a transaction, with one statement for each shape of path. */
  readonly all: (db: Transaction<Schema>, paths: readonly (readonly Reference[])[]) => Promise<(Row | undefined)[]>;
  /** The same together with the next statement: see `readWithNext`. */
  readonly allWithNext: (db: WriteTransaction, paths: readonly (readonly Reference[])[]) => Later<(Row | undefined)[]>;
}

/** Looks up the row at a path; undefined if there is none. `-` is allowed above an id, which identifies the row. */
export interface PathLookup<Row> extends LookupInTransaction<Row> {
  (path: readonly Reference[]): Promise<Row | undefined>;
  /** Looks up those of several rows for which a condition is true, with one statement for each shape of path. */
  readonly where: (
    condition: Expression<SqlBool>,
    paths: readonly (readonly Reference[])[],
  ) => Promise<(Row | undefined)[]>;
}

/** A select of all rows of a resource, joined with the rows that their paths go through. */
export interface RowsQuery<Row> {
  where(condition: Expression<SqlBool>): Compilable<Row> & { executeTakeFirst(): Promise<Row | undefined> };
}

export interface LookupTarget<Row> {
  /** The prefix of the statements' names; unique among lookups. */
  readonly name: string;
  /** The levels of the paths, from the top. */
  readonly levels: readonly PathLevel[];
  readonly rows: RowsQuery<unknown>;
  /** The columns to return; all by default. */
  readonly columns?: readonly (string & keyof Row)[];
}

/** PostgreSQL truncates names of prepared statements to this length. */
const maxNameLength = 63;
/** The suffix of a statement's name has at most this length per level: `_name`. */
const shapePerLevel = 5;
/** The suffix of a statement with a condition: `_12`. The texts of conditions are few, because values are parameters. */
const conditionLength = 3;

/**
 * Creates a batched lookup by path. Waiting paths of the same shape (which levels are names, which are ids) are looked up in
 * one statement. Their values are passed as one array per level, and each element is joined with the row that it names.
 */
export function createPathLookup<Row>(
  database: Database,
  target: LookupTarget<Row>,
  batching?: BatchOptions,
): PathLookup<Row> {
  const { name, levels, rows } = target;
  if (name.length + levels.length * shapePerLevel + conditionLength > maxNameLength) {
    throw new Error(`the name ${name} is too long`);
  }
  const statements = new Map<string, string>();
  /** The names of statements with a condition, by their texts. */
  const conditionNames = new Map<string, string>();
  const byShape = new Map<string, Lookup<readonly Reference[], Row | undefined>>();

  const statementFor = (path: readonly Reference[]): string => {
    const shape = shapeOf(path);
    const statement = statements.get(shape) ?? compileLookup(database, target, path).sql;
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

  const statementOfOne = createPathStatements<Row>(levels, () => rows as RowsQuery<Row>);

  /** Returns the statement that looks up paths of one shape. Its rows are placed by `placeRows`. */
  const statementOf = (db: Kysely<Schema>, alike: readonly (readonly Reference[])[]): CompiledQuery<Found<Row>> => {
    const [only = []] = alike;
    // Short arrays are planned each time.
    if (alike.length === 1) return statementOfOne(db, only);
    return CompiledQuery.raw(statementFor(only), valuesOf(alike, levels.length));
  };

  const all: PathLookup<Row>["all"] = (db, paths) =>
    findAll(paths, async (alike) => placeRows(alike, (await db.executeQuery(statementOf(db, alike))).rows));

  const allWithNext: PathLookup<Row>["allWithNext"] = (db, paths) =>
    findLater(paths, (alike) => {
      const read = db.readWithNext(statementOf(db, alike));
      return () => placeRows(alike, read());
    });

  const where: PathLookup<Row>["where"] = (condition, paths) =>
    findAll(paths, async (alike) => {
      const [first = []] = alike;
      const { sql: text, parameters } = compileLookup(database, target, first, condition);
      // The first parameters stand for the values of the paths.
      const values = [...valuesOf(alike, levels.length), ...parameters.slice(levels.length)];
      const statementName = conditionNames.get(text) ?? `${name}_${shapeOf(first)}_${conditionNames.size}`;
      conditionNames.set(text, statementName);
      return placeRows(alike, await database.readPrepared<Found<Row>>(statementName, text, values));
    });

  return Object.assign((path: readonly Reference[]) => lookupFor(path)(path), { all, allWithNext, where });
}

/**
 * Creates a function that looks up the row at a path, in a transaction, with a statement for each shape of path that has values and no
 * arrays, so that connections keep its plan.
 */
export function createPathFinder<Row>(
  levels: readonly PathLevel[],
  rowsOf: (db: Kysely<Schema>) => RowsQuery<Row>,
): (db: Kysely<Schema>, path: readonly Reference[]) => Promise<Row | undefined> {
  const statementOf = createPathStatements(levels, rowsOf);
  return async (db, path) => (await db.executeQuery(statementOf(db, path))).rows[0];
}

function createPathStatements<Row>(
  levels: readonly PathLevel[],
  rowsOf: (db: Kysely<Schema>) => RowsQuery<Row>,
): (db: Kysely<Schema>, path: readonly Reference[]) => CompiledQuery<Row> {
  const statements = new Map<string, StatementTemplate<Row>>();
  const compile = (shape: readonly Reference[]): StatementTemplate<Row> =>
    createStatementTemplate(shape.length, (db, values) => {
      const path = shape.map(({ by }, index) => ({ by, value: values[index] }) as Reference);
      return rowsOf(db).where(matchesPath(levels, path)).compile();
    });
  return (db, path) => {
    const shape = shapeOf(path);
    const statement = statements.get(shape) ?? compile(path);
    statements.set(shape, statement);
    return statement(db, path.map(valueOf));
  };
}

async function findAll<Row>(
  paths: readonly (readonly Reference[])[],
  findAlike: (paths: readonly (readonly Reference[])[]) => Promise<(Row | undefined)[]>,
): Promise<(Row | undefined)[]> {
  const found: (readonly [indexes: readonly number[], rows: readonly (Row | undefined)[]])[] = [];
  for (const indexes of alikeIn(paths)) found.push([indexes, await findAlike(pick(paths, indexes))]);
  return inOrder(paths, found);
}

/** The same together with the next statement. */
function findLater<Row>(
  paths: Paths,
  sendAlike: (paths: Paths) => Later<(Row | undefined)[]>,
): Later<(Row | undefined)[]> {
  const sent = alikeIn(paths).map((indexes) => ({ indexes, rows: sendAlike(pick(paths, indexes)) }));
  const read = () => sent.map(({ indexes, rows }) => [indexes, rows()] as const);
  return () => inOrder(paths, read());
}

type Paths = readonly (readonly Reference[])[];

const alikeIn = (paths: Paths): readonly (readonly number[])[] => [
  ...Map.groupBy(paths.keys(), (index) => shapeOf(paths[index] ?? [])).values(),
];

const pick = (paths: Paths, indexes: readonly number[]): Paths => indexes.map((index) => paths[index] ?? []);

/** Returns the rows that were found for the paths of each shape in the order of all paths. */
function inOrder<Row>(
  paths: Paths,
  found: readonly (readonly [indexes: readonly number[], rows: readonly (Row | undefined)[]])[],
): (Row | undefined)[] {
  const all = Array.from<Row | undefined>({ length: paths.length });
  for (const [indexes, rows] of found) {
    for (const [position, index] of indexes.entries()) all[index] = rows[position];
  }
  return all;
}

/** A row, with the position of the path that found it, from 1; without it, if there was one path. */
type Found<Row> = Row & { readonly given_position?: number };

const shapeOf = (path: readonly Reference[]): string => path.map((reference) => reference.by).join("_");

function compileLookup<Row>(
  database: Database,
  { levels, rows, columns }: LookupTarget<Row>,
  shape: readonly Reference[],
  condition?: Expression<SqlBool>,
): CompiledQuery {
  const conditions: Expression<SqlBool>[] = levels.map((level, index) => {
    const reference = shape[index];
    if (reference === undefined) throw new Error(`a path of ${shape.length} levels for ${levels.length} tables`);
    return matchesReference(level, reference, sql.ref(`given.level_${index}`));
  });
  if (condition !== undefined) conditions.push(condition);
  const found = rows.where(sql<SqlBool>`(${sql.join(conditions, sql` and `)})`);
  const arrays = levels.map((_level, index) => {
    const type = shape[index]?.by === "id" ? sql`uuid[]` : sql`text[]`;
    return sql`${null}::${type}`;
  });
  const given = [...levels.map((_level, index) => sql.id(`level_${index}`)), sql.id("position")];
  const answered = columns === undefined ? sql`found.*` : sql.join(columns.map((column) => sql.ref(`found.${column}`)));
  return sql`
    select given.position::int as given_position, ${answered}
    from unnest(${sql.join(arrays)}) with ordinality as given (${sql.join(given)})
    cross join lateral (${found} limit 1) as found`.compile(database.reads);
}

/** Returns the values of the paths' references, as one array per level. */
function valuesOf(paths: readonly (readonly Reference[])[], count: number): (string | null)[][] {
  return Array.from({ length: count }, (_, level) => paths.map((path) => valueOf(path[level])));
}

function valueOf(reference: Reference | undefined): string | null {
  return reference !== undefined && reference.by !== "any" ? reference.value : null;
}

function placeRows<Row>(paths: readonly unknown[], found: readonly Found<Row>[]): (Row | undefined)[] {
  const rows = Array.from<Row | undefined>({ length: paths.length });
  for (const row of found) rows[(row.given_position ?? 1) - 1] = row;
  return rows;
}
