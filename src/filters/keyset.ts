// Paging by key over any order. A page starts after the last row of the one before, which the page token holds by the values
// of its key: the columns of `order_by`, then those that are unique together. No value in a key is null; where a column is,
// a time after all others takes its place.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Column } from "./filter-fields.ts";
import type { OrderKey } from "./parse-order-by.ts";

/** Stands for null, which so comes last, and first where the order descends. */
const afterAllTimes = "infinity";

/**
 * The whole key of a list. The unique columns take the direction of the last one before them: where all directions are
 * the same the key is compared as one, which an index can serve.
 *
 * @param unique columns that are unique together, not null, and no texts.
 */
export function withUniqueKey(order: readonly OrderKey[], unique: readonly Column[]): readonly OrderKey[] {
  const descending = order.at(-1)?.descending ?? false;
  const missing = unique.filter((column) => order.every((key) => key.column !== column));
  return [...order, ...missing.map((column) => ({ column, isText: false, isNullable: false, descending }))];
}

/** A place in a list: what it is ordered by, and the key of the row after which a page begins. */
interface Position {
  readonly order: readonly OrderKey[];
  readonly after: readonly string[] | undefined;
}

/**
 * The same without columns that hold one value in all rows of the list. They order nothing, and in a comparison of the
 * whole key with `after` they would keep an index from beginning there.
 */
export function withoutFixed({ order, after: cursor }: Position, fixed: readonly Column[]): Position {
  if (cursor !== undefined) requireSameLength(order, cursor);
  const isFree = (_: unknown, index: number): boolean => !fixed.includes(order[index]?.column ?? ".");
  return { order: order.filter(isFree), after: cursor?.filter(isFree) };
}

/**
 * What to order by.
 *
 * @param table what the rows are called in the statement, where that is not the columns' own table.
 */
export function orderExpressions(order: readonly OrderKey[], table?: string): RawBuilder<unknown> {
  return sql.join(order.map((key) => sql`${expressionOf(key, table)} ${key.descending ? sql`desc` : sql`asc`}`));
}

/** The values of a row's key, as texts. Rows have the key's columns under their own names. */
export function cursorOf(order: readonly OrderKey[], row: object): readonly string[] {
  return order.map(({ column, isNullable }) => {
    const value: unknown = (row as Record<string, unknown>)[columnName(column)];
    if (value instanceof Date) return value.toISOString();
    if (value === null && isNullable) return afterAllTimes;
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw new Error(`a row cannot be ordered by ${column}, which is ${String(value)}`);
  });
}

/** The condition that a row comes after the one with this cursor. */
export function comesAfter(order: readonly OrderKey[], cursor: readonly string[] | undefined): RawBuilder<SqlBool> {
  if (cursor === undefined) return sql<SqlBool>`true`;
  requireSameLength(order, cursor);
  const isOneWay = order.every((key) => key.descending === order[0]?.descending);
  if (!isOneWay) return comesAfterFrom(order, cursor, 0);
  const columns = sql.join(order.map((key) => expressionOf(key)));
  return sql<SqlBool>`((${columns}) ${after(order[0])} (${sql.join([...cursor])}))`;
}

function requireSameLength(order: readonly OrderKey[], cursor: readonly string[]): void {
  if (cursor.length === order.length && order.length > 0) return;
  throw new Error(`a cursor of ${cursor.length} values for an order by ${order.length} columns`);
}

/** Compares the columns one after the other, each with its own direction, from `index` on. */
function comesAfterFrom(order: readonly OrderKey[], cursor: readonly string[], index: number): RawBuilder<SqlBool> {
  const key = order[index];
  if (key === undefined) return sql<SqlBool>`false`;
  const [column, value] = [expressionOf(key), cursor[index]];
  if (index === order.length - 1) return sql<SqlBool>`(${column} ${after(key)} ${value})`;
  const rest = comesAfterFrom(order, cursor, index + 1);
  // The first comparison follows from the rest, and is what an index can begin with.
  return sql<SqlBool>`(${column} ${after(key)}= ${value} and (${column} <> ${value} or ${rest}))`;
}

function after(key: OrderKey | undefined) {
  return key?.descending ? sql`<` : sql`>`;
}

/** Texts are ordered by their code points on every server, whatever the database's collation. */
function expressionOf({ column, isText, isNullable }: OrderKey, table?: string): RawBuilder<unknown> {
  const reference = sql.ref(table === undefined ? column : `${table}.${columnName(column)}`);
  if (isText) return sql`${reference} collate "C"`;
  return isNullable ? sql`coalesce(${reference}, ${sql.lit(afterAllTimes)})` : reference;
}

function columnName(column: Column): string {
  return column.slice(column.indexOf(".") + 1);
}
