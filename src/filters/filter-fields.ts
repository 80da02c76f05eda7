// What a resource declares so that its lists can be filtered and ordered: its fields by their proto names, each with the
// column, or the expression, that holds it.
import { type Expression, sql } from "kysely";
import type { ScalarType } from "./scalar-types.ts";

/** A column with its table: `members.name`. */
export type Column = `${string}.${string}`;

/** May stand in `order_by`. Rows must have the column under its own name. */
export interface Order {
  readonly column: Column;
  readonly isText: boolean;
  readonly isNullable: boolean;
}

export type FilterField =
  | { readonly kind: "text"; readonly value: Expression<unknown>; readonly isSearched: boolean; readonly order?: Order }
  | { readonly kind: "scalar"; readonly value: Expression<unknown>; readonly type: ScalarType; readonly order?: Order }
  | { readonly kind: "enum"; readonly value: Expression<unknown>; readonly names: readonly string[] }
  | { readonly kind: "textMap"; readonly value: Expression<unknown>; readonly isLabels: boolean };

export type FilterFields = Readonly<Record<string, FilterField>>;

/** A string. Bare words are looked for in those that are `searched`. */
export function text(column: Column, options: { searched?: boolean; orderable?: boolean } = {}): FilterField {
  return {
    kind: "text",
    value: sql.ref(column),
    isSearched: options.searched ?? false,
    ...(options.orderable && { order: { column, isText: true, isNullable: false } }),
  };
}

/**
 * A time, number, boolean or id. A duration or a boolean is not orderable. A timestamp that is orderable and can be null
 * has to say so; it comes after all others.
 */
export function scalar(
  type: ScalarType,
  column: Column,
  options: { orderable?: boolean; nullable?: boolean } = {},
): FilterField {
  return {
    kind: "scalar",
    type,
    value: sql.ref(column),
    ...(options.orderable && { order: { column, isText: false, isNullable: options.nullable ?? false } }),
  };
}

/** An enum whose names are in the column as text. */
export function enumerated(column: Column | Expression<string>, names: readonly string[]): FilterField {
  return { kind: "enum", value: typeof column === "string" ? sql.ref(column) : column, names };
}

/** A `map<string, string>` in a jsonb column that is never null. Entries of the `labels` of a resource are indexed. */
export function textMap(column: Column, options: { labels?: boolean } = {}): FilterField {
  return { kind: "textMap", value: sql.ref(column), isLabels: options.labels ?? false };
}
