import { type InferResult, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";
import { foldEmail } from "../../validation/email-address.ts";

export type ContactRow = InferResult<ReturnType<typeof selectContacts>>[number];

export const contactColumns = ["org_id", "email", "kinds", "confirm_time", ...namedColumns] as const;

/** Selects all contacts, with the columns that their paths need. */
export function selectContacts(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("contacts", (join) =>
      join.onRef("contacts.customer_id", "=", "orgs.customer_id").onRef("contacts.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("contacts", contactColumns))
    .select([...pathColumns.org]);
}

/** The condition that a contact has an address, which an index answers. */
export function hasContactAddress(email: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(contacts.email collate "C") = ${foldEmail(email)}`;
}
