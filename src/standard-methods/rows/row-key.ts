import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type OrgKey, customerColumnOf } from "../../database/org-key.ts";
import { required } from "../../errors/required.ts";
import type { LabelPlace } from "./labels.ts";
import { type ResourceDefinition, isInOrg, parentColumnOf } from "../definition/definition.ts";

/** Returns the keys of rows as a table, for FROM. */
export function unnestKeys({ storage: { key } }: ResourceDefinition, rows: readonly object[]): RawBuilder<unknown> {
  const arrays = key.map((column) => sql`${rows.map((row) => (row as Record<string, unknown>)[column])}::uuid[]`);
  return sql`unnest(${sql.join(arrays)})`;
}

/** Returns the condition that a row's key is one of the given rows'. */
export function isOneOf(definition: ResourceDefinition, rows: readonly object[]): RawBuilder<SqlBool> {
  const { table, key } = definition.storage;
  const columns = key.map((column) => sql.ref(`${table}.${column}`));
  const [row] = rows;
  if (row !== undefined && rows.length === 1) {
    const equal = key.map((column, index) => sql`${columns[index]} = ${(row as Record<string, unknown>)[column]}`);
    return sql<SqlBool>`(${sql.join(equal, sql` and `)})`;
  }
  return sql<SqlBool>`(${sql.join(columns)}) in (select * from ${unnestKeys(definition, rows)})`;
}

/**
 * Returns the condition that a row is one of the given rows of an org, to which its customer leads.
 *
 * @param org undefined for customers and orgs.
 */
export function isOneIn(
  definition: ResourceDefinition,
  org: OrgKey | undefined,
  rows: readonly object[],
): RawBuilder<SqlBool> {
  return led(definition, org, isOneOf(definition, rows));
}

/** Returns a condition on the rows of an org with that on its customer. */
export function led(
  { storage: { table } }: ResourceDefinition,
  org: Pick<OrgKey, "customer_id"> | undefined,
  condition: RawBuilder<SqlBool>,
): RawBuilder<SqlBool> {
  const customer = customerColumnOf(table);
  if (customer === undefined) return condition;
  return sql<SqlBool>`(${sql.ref(`${table}.${customer}`)} = ${required(org).customer_id} and ${condition})`;
}

/** Returns a text that is unique to a row among all rows of its resource. */
export function keyOf({ storage: { key } }: ResourceDefinition, row: object): string {
  return key.map((column) => (row as Record<string, string>)[column]).join(" ");
}

/** Returns the id of a row's resource. */
export function idOf({ storage: { id } }: ResourceDefinition, row: object): string {
  return (row as Record<string, string>)[id] ?? "";
}

/** Returns the id of a row's direct parent; null if it has none. */
export function parentIdOf(definition: ResourceDefinition, row: object): string | null {
  const column = parentColumnOf(definition);
  return column === undefined ? null : ((row as Record<string, string | null>)[column] ?? null);
}

/**
 * Returns where the labels of a row are.
 *
 * @param org of the row; undefined for a customer or an org.
 */
export function labelPlaceOf(definition: ResourceDefinition, org: OrgKey | undefined, row: object): LabelPlace {
  if (isInOrg(definition)) return required(org);
  return { customer_id: (row as { readonly customer_id?: string }).customer_id ?? idOf(definition, row) };
}
