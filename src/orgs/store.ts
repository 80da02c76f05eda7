import { type InferResult, type Kysely, type Transaction, sql } from "kysely";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";

export type OrgRow = InferResult<ReturnType<typeof selectOrgs>>[number];

/** All orgs, with what the path of their customer needs. */
export function selectOrgs(db: Kysely<Schema>) {
  return db
    .selectFrom("customers")
    .innerJoin("orgs", "orgs.customer_id", "customers.id")
    .select(["orgs.customer_id", "orgs.state", "orgs.revision", "orgs.deleted_with_customer"])
    .select([...namedColumnsOf("orgs"), ...deletableColumnsOf("orgs")])
    .select(["customers.name as customer_name", "customers.delete_time as customer_delete_time"]);
}

export function findOrg(db: Kysely<Schema>, path: readonly Reference[]): Promise<OrgRow | undefined> {
  return selectOrgs(db)
    .where(matchesPath(["orgs"], path))
    .executeTakeFirst();
}

export function readOrgsPage(db: Kysely<Schema>, selection: Selection): Promise<OrgRow[]> {
  const listing = {
    rows: selectOrgs(db),
    parentTables: [],
    parentColumns: [],
    labelled: { type: "Org", id: "orgs.id" },
    live: sql<boolean>`orgs.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

/** The orgs of a customer that are not deleted, in the order in which they are to be locked. */
export function liveOrgsOf(db: Transaction<Schema>, customerId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom("orgs")
    .select("id")
    .where("customer_id", "=", customerId)
    .where("delete_time", "is", null)
    .orderBy("id")
    .execute();
}

/** The orgs that were deleted because their customer was and can still be brought back, in the same order. */
export function orgsDeletedWith(db: Transaction<Schema>, customerId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom("orgs")
    .select("id")
    .where("customer_id", "=", customerId)
    .where("deleted_with_customer", "=", true)
    .where("purge_time", ">", sql<Date>`clock_timestamp()`)
    .orderBy("id")
    .execute();
}

/** All orgs of a customer, in the same order. */
export function orgsOf(db: Transaction<Schema>, customerId: string): Promise<{ id: string }[]> {
  return db.selectFrom("orgs").select("id").where("customer_id", "=", customerId).orderBy("id").execute();
}

/** Writes down whether an org is deleted because its customer is. */
export async function setDeletedWithCustomer(db: Transaction<Schema>, id: string, value: boolean): Promise<void> {
  await db.updateTable("orgs").set({ deleted_with_customer: value }).where("id", "=", id).execute();
}

/** The first revision of an org's change log: its creation. */
export const firstRevision = "1";

export async function insertOrg(
  db: Transaction<Schema>,
  customer: { readonly id: string; readonly name: string; readonly delete_time: Date | null },
  fields: NamedFields,
): Promise<OrgRow> {
  const row = await db
    .insertInto("orgs")
    .values({
      customer_id: customer.id,
      state: "ACTIVE",
      revision: firstRevision,
      ...newNamedColumns(fields, firstRevision),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, customer_name: customer.name, customer_delete_time: customer.delete_time };
}

export async function updateOrg(
  db: Transaction<Schema>,
  row: OrgRow,
  fields: NamedFields,
  revision: string,
): Promise<OrgRow> {
  const updated = await db
    .updateTable("orgs")
    .set({ ...namedColumns(fields), changed_revision: revision, update_time: sql`now()` })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}
