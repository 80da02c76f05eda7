import { type InferResult, type Kysely, type Transaction, sql } from "kysely";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath, matchesReference } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";

export type CustomerRow = InferResult<ReturnType<typeof selectCustomers>>[number];

export function selectCustomers(db: Kysely<Schema>) {
  return db.selectFrom("customers").select([...namedColumnsOf("customers"), ...deletableColumnsOf("customers")]);
}

export function findCustomer(db: Kysely<Schema>, path: readonly Reference[]): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where(matchesPath(["customers"], path))
    .executeTakeFirst();
}

/** The same, and keeps others from changing it or giving it Orgs until the transaction ends. */
export function lockCustomer(db: Transaction<Schema>, reference: Reference): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where(matchesReference("customers", reference))
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
}

/** The same for several, in the order of their ids, in which whoever needs several locks takes them. */
export async function lockCustomers(db: Transaction<Schema>, ids: ReadonlySet<string>): Promise<void> {
  for (const value of [...ids].toSorted()) await lockCustomer(db, { by: "id", value });
}

export function readCustomersPage(db: Kysely<Schema>, selection: Selection): Promise<CustomerRow[]> {
  const listing = {
    rows: selectCustomers(db),
    parentTables: [],
    parentColumns: [],
    labelled: { type: "Customer", id: "customers.id" },
    live: sql<boolean>`customers.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

export function insertCustomer(db: Transaction<Schema>, fields: NamedFields, revision: string): Promise<CustomerRow> {
  return db.insertInto("customers").values(newNamedColumns(fields, revision)).returningAll().executeTakeFirstOrThrow();
}

export function updateCustomer(
  db: Transaction<Schema>,
  id: string,
  fields: NamedFields,
  revision: string,
): Promise<CustomerRow> {
  return db
    .updateTable("customers")
    .set({ ...namedColumns(fields), changed_revision: revision, update_time: sql`now()` })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
