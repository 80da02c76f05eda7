import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Creates the contacts of orgs, the links that confirm them, and the warnings that they were sent; and adds what invoices name to orgs and
 * customers. A server of the version before sends nothing to contacts, and what it writes to an org or customer leaves the new columns as
 * they are.
 */
export async function createContacts(db: Kysely<unknown>): Promise<void> {
  const ofInvoices = ["orgs", "customers"].map(
    (table) => `alter table ${table} add column legal_name text, add column billing_reference text`,
  );
  const ordered = ["name", "display_name", "create_time", "update_time"].map((column) => {
    const last = { name: `name collate "C"`, display_name: `display_name collate "C", id` }[column] ?? `${column}, id`;
    return `create index contacts_by_${column} on contacts (org_id, ${last})`;
  });
  const statements = [
    ...ofInvoices,
    `create table contacts (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      email text not null,
      kinds text[] not null check (kinds <@ array['BILLING', 'SECURITY', 'TECHNICAL']),
      confirm_time timestamptz(3),
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id, customer_id),
      foreign key (customer_id, org_id) references orgs (customer_id, id)
    )`,
    `create unique index contacts_name_key on contacts (org_id, name, customer_id)`,
    `create unique index contacts_email_key on contacts (org_id, lower(email collate "C"), customer_id)`,
    `create index contacts_id on contacts using hash (id)`,
    `create index contacts_confirmed on contacts (org_id) where (confirm_time is not null)`,
    ...ordered,
    // Each is a link that was made, also by those that are void or used by now: mails are counted by them.
    `create table contact_links (
      id uuid not null,
      customer_id uuid not null,
      org_id uuid not null,
      contact_id uuid not null,
      hash bytea,
      address_hash bytea not null,
      mail text not null check (mail in ('NONE', 'SENDING', 'SENT')),
      send_time timestamptz(3) not null,
      expire_time timestamptz(3) not null,
      primary key (id, customer_id)
    )`,
    `create index contact_links_by_expire_time on contact_links (expire_time)`,
    `create index contact_links_mails on contact_links (org_id, send_time) where mail <> 'NONE'`,
    `create index contact_links_addresses on contact_links (org_id, address_hash, send_time) where mail <> 'NONE'`,
    `create index contact_links_contact on contact_links (org_id, contact_id)`,
    // The occasion tells two warnings about the same thing apart, such as two ends of an API key.
    `-- squawk-ignore-file prefer-bigint-over-int
    create table contact_warnings (
      customer_id uuid not null,
      org_id uuid not null,
      contact_id uuid not null,
      kind text not null,
      subject_id uuid not null,
      occasion timestamptz(3) not null,
      attempts integer not null,
      attempt_time timestamptz(3) not null,
      is_sent boolean not null,
      expire_time timestamptz(3) not null,
      primary key (org_id, contact_id, kind, subject_id, occasion, customer_id)
    )`,
    `create index contact_warnings_by_expire_time on contact_warnings (expire_time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const indexesOfEndingKeys: readonly Index[] = [
  // The keys of an org that end soon, about which its contacts are warned.
  { name: "api_keys_by_end", definition: "on api_keys (org_id, expire_time) where expire_time is not null" },
];
