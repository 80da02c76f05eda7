// The declaration of a resource's fields for filters and orders: the name of each field in the proto, with its column or
// expression.
import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { ScalarType } from "./scalar-types.ts";

/** A column with its table: `members.name`. */
export type Column = `${string}.${string}`;

/** How a field that is allowed in `order_by` is ordered. Rows must have the column under its own name. */
export interface Order {
  readonly column: Column;
  readonly isText: boolean;
  readonly isNullable: boolean;
}

/** Returns the condition that a field is a text that is not empty, where that is found sooner than by comparing its value. */
export type TextEquals = (text: string) => RawBuilder<SqlBool>;

export interface TextField {
  readonly kind: "text";
  readonly value: Expression<unknown>;
  readonly isSearched: boolean;
  readonly order?: Order;
  readonly equals?: TextEquals;
}

export type FilterField =
  | TextField
  | { readonly kind: "scalar"; readonly value: Expression<unknown>; readonly type: ScalarType; readonly order?: Order }
  | { readonly kind: "enum"; readonly value: Expression<unknown>; readonly names: readonly string[] }
  | { readonly kind: "textMap"; readonly value: Expression<unknown>; readonly isLabels: boolean }
  | { readonly kind: "numberMap"; readonly value: Expression<unknown> };

export type FilterFields = Readonly<Record<string, FilterField>>;

/** Declares a string. Bare words are searched in fields that are `searched`. In a `nullable` column, null is the empty text. */
export function text(
  column: Column,
  options: { searched?: boolean; orderable?: boolean; nullable?: boolean; equals?: TextEquals } = {},
): FilterField {
  return {
    kind: "text",
    value: options.nullable ? sql`coalesce(${sql.ref(column)}, '')` : sql.ref(column),
    isSearched: options.searched ?? false,
    ...(options.orderable && { order: { column, isText: true, isNullable: false } }),
    ...(options.equals && { equals: options.equals }),
  };
}

/**
 * Declares a time, number, boolean or id. Durations, booleans and expressions are not orderable. An orderable timestamp that
 * can be null must be declared `nullable`; null comes after all times.
 */
export function scalar(
  type: ScalarType,
  value: Column | Expression<unknown>,
  options: { orderable?: boolean; nullable?: boolean } = {},
): FilterField {
  if (typeof value !== "string") return { kind: "scalar", type, value };
  return {
    kind: "scalar",
    type,
    value: sql.ref(value),
    ...(options.orderable && { order: { column: value, isText: false, isNullable: options.nullable ?? false } }),
  };
}

/** Declares an enum whose value names are in the column as text. */
export function enumerated(column: Column | Expression<string>, names: readonly string[]): FilterField {
  return { kind: "enum", value: typeof column === "string" ? sql.ref(column) : column, names };
}

/** Declares a `map<string, string>` in a jsonb column that is not null. The entries of `labels` are in the label index. */
export function textMap(column: Column, options: { labels?: boolean } = {}): FilterField {
  return { kind: "textMap", value: sql.ref(column), isLabels: options.labels ?? false };
}

/** Declares a `map<string, double>` in a jsonb column that is not null. */
export function numberMap(column: Column): FilterField {
  return { kind: "numberMap", value: sql.ref(column) };
}
