import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Adds the addresses of members, the links that are sent to them, and whether the addresses that an identity provider names are those of
 * its people. A server of the version before neither reads nor writes any of it: nobody accepts an invitation there, and what it writes to
 * a member or provider leaves the address and the setting as they are.
 */
export async function createInvitations(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table members add column email text`,
    `-- squawk-ignore adding-field-with-default
    alter table identity_providers add column email_trusted boolean not null default false`,
    // Each is a link that was made, also by those that are void or used by now: mails are counted by them.
    `create table invitations (
      id uuid not null,
      customer_id uuid not null,
      org_id uuid not null,
      member_id uuid not null,
      hash bytea,
      address_hash bytea not null,
      mail text not null check (mail in ('NONE', 'SENDING', 'SENT')),
      send_time timestamptz(3) not null,
      expire_time timestamptz(3) not null,
      primary key (id, customer_id)
    )`,
    `create index invitations_by_expire_time on invitations (expire_time)`,
    `create index invitations_mails on invitations (org_id, send_time) where mail <> 'NONE'`,
    `create index invitations_addresses on invitations (org_id, address_hash, send_time) where mail <> 'NONE'`,
    `create index invitations_member on invitations (org_id, member_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const indexesOfAddresses: readonly Index[] = [
  // Addresses are ASCII, so the collation "C" folds them as the service does, whatever that of the database is.
  {
    name: "members_email_key",
    definition: `on members (customer_id, org_id, lower(email collate "C")) where email is not null and delete_time is null`,
    unique: true,
  },
];
