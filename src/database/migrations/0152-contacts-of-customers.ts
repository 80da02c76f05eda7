import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Lets contacts be of customers, as webhooks are: with the id of the customer in the place of that of an org, and without a customer of the org, so that
 * the foreign key to `orgs` is not for them. A server of the version before sends nothing to contacts, and cannot purge a customer
 * that has some.
 */
export async function addContactsOfCustomers(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // The table is small, so that it is written anew in a moment: an org has few contacts.
    `-- squawk-ignore-file adding-field-with-default
    alter table contacts
      add column parent_customer_id uuid,
      add column org_customer_id uuid generated always as (nullif(customer_id, org_id)) stored`,
    `-- squawk-ignore ban-drop-constraint
    alter table contacts drop constraint contacts_customer_id_org_id_fkey`,
    `alter table contacts add constraint contacts_org_customer_id_org_id_fkey foreign key (org_customer_id, org_id)
      references orgs (customer_id, id) not valid`,
    `alter table contacts add constraint contacts_parent_customer_id_fkey foreign key (parent_customer_id)
      references customers (id) not valid`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Checks the rows from before for `addContactsOfCustomers`. */
export async function validateParentsOfContacts(db: Kysely<unknown>): Promise<void> {
  for (const column of ["org_customer_id_org_id", "parent_customer_id"]) {
    await sql.raw(`alter table contacts validate constraint contacts_${column}_fkey`).execute(db);
  }
}

export const indexesOfCustomerContacts: readonly Index[] = [
  {
    name: "contacts_of_customers",
    definition: "on contacts (parent_customer_id, id) where parent_customer_id is not null",
  },
  // A list through all orgs does not pass over those of customers.
  { name: "contacts_of_orgs", definition: "on contacts (org_id, id) where org_customer_id is not null" },
];
