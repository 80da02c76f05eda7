import { type RawBuilder, type Selectable, type SqlBool, sql } from "kysely";
import type { Orgs, Schema } from "./schema.ts";

/** An org with its customer, which leads the keys of all its rows and never changes. A row of `orgs` is one. */
export type OrgKey = Pick<Selectable<Orgs>, "customer_id" | "id">;

/**
 * Whether a log is that of a customer itself, and not of an org: its entries have the id of the customer in the place of that of an org.
 *
 * @param key of the log.
 */
export function isLogOfCustomer({ customer_id: customerId, id }: OrgKey): boolean {
  return id === customerId;
}

type Table = keyof Schema;

/** They are in no org, or on the platform and stored in the org `system`. */
const ofNoCustomer: ReadonlySet<Table> = new Set([
  "customers",
  "orgs",
  "services",
  "resource_types",
  "quantity_kinds",
  "quality_kinds",
]);

/** Returns the column with the customer of the org of a row; undefined for a table whose rows are in no org of a customer. */
export function customerColumnOf(table: Table): "customer_id" | "org_customer_id" | undefined {
  if (ofNoCustomer.has(table)) return undefined;
  // A role is granted on the customer of the other column.
  return table === "role_bindings" ? "org_customer_id" : "customer_id";
}

/** Returns the condition that a row of a table is in an org, to which its customer leads. */
export function isInOrgOf(table: Table, org: OrgKey): RawBuilder<SqlBool> {
  const isInOrg = sql<SqlBool>`${sql.ref(`${table}.org_id`)} = ${org.id}`;
  const column = customerColumnOf(table);
  if (column === undefined) return isInOrg;
  return sql<SqlBool>`(${sql.ref(`${table}.${column}`)} = ${org.customer_id} and ${isInOrg})`;
}
