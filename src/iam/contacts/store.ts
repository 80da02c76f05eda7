import { type InferResult, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { foldEmail } from "../../validation/email-address.ts";

export type ContactRow = InferResult<ReturnType<typeof selectContacts>>[number];

export const contactColumns = [
  "org_id",
  "parent_customer_id",
  "email",
  "kinds",
  "confirm_time",
  ...namedColumns,
] as const;

/** Selects all contacts, with the columns that their paths need. */
export function selectContacts(db: Kysely<Schema>) {
  return db
    .selectFrom("contacts")
    .leftJoin("orgs", (join) =>
      join.onRef("orgs.customer_id", "=", "contacts.org_customer_id").onRef("orgs.id", "=", "contacts.org_id"),
    )
    .leftJoin("customers", "customers.id", "contacts.parent_customer_id")
    .select(columnsOf("contacts", contactColumns))
    .select([...pathColumns.org, "customers.name as customer_name", "customers.delete_time as customer_delete_time"]);
}

/** Finds a contact of an org, or of a customer in the place of one. */
export function findContact(db: Kysely<Schema>, parent: OrgKey, id: string): Promise<ContactRow | undefined> {
  return selectContacts(db).where(isInOrgOf("contacts", parent)).where("contacts.id", "=", id).executeTakeFirst();
}

/** The condition that a contact has an address, which an index answers. */
export function hasContactAddress(email: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(contacts.email collate "C") = ${foldEmail(email)}`;
}
