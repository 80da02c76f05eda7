// Keyset pagination over any order. A page starts after the last row of the previous page. The page token has the values of
// that row's key: the `order_by` columns, then columns that are unique together. Key values are never null; null is replaced by
// a time after all others.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Column } from "./filter-fields.ts";
import type { OrderKey } from "./parse-order-by.ts";

/** The replacement of null. It sorts last, or first in descending order. */
const afterAllTimes = "infinity";

/**
 * Returns the complete key of a list. The unique columns have the direction of the last column before them: if all directions
 * are equal, the key is compared as a row value, which an index supports.
 *
 * @param unique columns that are unique together, not null, and not texts.
 */
export function withUniqueKey(order: readonly OrderKey[], unique: readonly Column[]): readonly OrderKey[] {
  const descending = order.at(-1)?.descending ?? false;
  const missing = unique.filter((column) => order.every((key) => key.column !== column));
  return [...order, ...missing.map((column) => ({ column, isText: false, isNullable: false, descending }))];
}

/** A position in a list: its order, and the key of the row after which a page starts. */
interface Position {
  readonly order: readonly OrderKey[];
  readonly after: readonly string[] | undefined;
}

/**
 * Removes the columns that have the same value in all rows of the list. They do not affect the order, and in a comparison of
 * the whole key with `after` they would prevent an index scan from starting there.
 */
export function withoutFixed({ order, after: cursor }: Position, fixed: readonly Column[]): Position {
  if (cursor !== undefined) requireSameLength(order, cursor);
  const isFree = (_: unknown, index: number): boolean => !fixed.includes(order[index]?.column ?? ".");
  return { order: order.filter(isFree), after: cursor?.filter(isFree) };
}

/** @param table the alias of the rows in the statement, if it differs from the columns' own table. */
export function orderExpressions(order: readonly OrderKey[], table?: string): RawBuilder<unknown> {
  return sql.join(order.map((key) => sql`${expressionOf(key, table)} ${key.descending ? sql`desc` : sql`asc`}`));
}

/** Returns the key values of a row, as texts. The row has the key's columns under their own names. */
export function cursorOf(order: readonly OrderKey[], row: object): readonly string[] {
  return order.map(({ column, isNullable }) => {
    const value: unknown = (row as Record<string, unknown>)[columnName(column)];
    if (value instanceof Date) return value.toISOString();
    if (value === null && isNullable) return afterAllTimes;
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw new Error(`a row cannot be ordered by ${column}, which is ${String(value)}`);
  });
}

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

/** Compares the columns individually, each in its own direction, starting at `index`. */
function comesAfterFrom(order: readonly OrderKey[], cursor: readonly string[], index: number): RawBuilder<SqlBool> {
  const key = order[index];
  if (key === undefined) return sql<SqlBool>`false`;
  const [column, value] = [expressionOf(key), cursor[index]];
  if (index === order.length - 1) return sql<SqlBool>`(${column} ${after(key)} ${value})`;
  const rest = comesAfterFrom(order, cursor, index + 1);
  // The first comparison is redundant, but allows an index scan.
  return sql<SqlBool>`(${column} ${after(key)}= ${value} and (${column} <> ${value} or ${rest}))`;
}

function after(key: OrderKey | undefined) {
  return key?.descending ? sql`<` : sql`>`;
}

/** Returns the expression of a column. Texts are ordered by code point, whatever the collation of the database. */
function expressionOf({ column, isText, isNullable }: OrderKey, table?: string): RawBuilder<unknown> {
  const reference = sql.ref(table === undefined ? column : `${table}.${columnName(column)}`);
  if (isText) return sql`${reference} collate "C"`;
  return isNullable ? sql`coalesce(${reference}, ${sql.lit(afterAllTimes)})` : reference;
}

function columnName(column: Column): string {
  return column.slice(column.indexOf(".") + 1);
}
