import { type Kysely, sql } from "kysely";

/**
 * Creates the SCIM sources, and which members and groups each of them manages. What says so goes with its source, member or group, also
 * where a server of the version before removes these.
 */
export async function createScimSources(db: Kysely<unknown>): Promise<void> {
  const ordered = ["name", "display_name", "create_time", "update_time"].map((column) => {
    const last = { name: `name collate "C"`, display_name: `display_name collate "C", id` }[column] ?? `${column}, id`;
    return `create index scim_sources_by_${column} on scim_sources (org_id, ${last})`;
  });
  const statements = [
    `create table scim_sources (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      member_id uuid,
      provider_id uuid,
      subject text not null check (subject in ('EXTERNAL_ID', 'USER_NAME')),
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id, customer_id),
      foreign key (customer_id, org_id) references orgs (customer_id, id),
      foreign key (customer_id, org_id, member_id) references members (customer_id, org_id, id),
      foreign key (customer_id, org_id, provider_id) references identity_providers (customer_id, org_id, id)
    )`,
    `create unique index scim_sources_name_key on scim_sources (org_id, name, customer_id)`,
    `create unique index scim_sources_member_key on scim_sources (org_id, member_id, customer_id) where (member_id is not null)`,
    `create index scim_sources_provider on scim_sources (org_id, provider_id)`,
    `create index scim_sources_id on scim_sources using hash (id)`,
    ...ordered,
    // The keys are what is compared without case: folded by the service, whatever the collation of the database is.
    `create table scim_users (
      customer_id uuid not null,
      org_id uuid not null,
      source_id uuid not null,
      member_id uuid not null,
      user_key text not null,
      display_key text not null,
      external_id text,
      emails text[] not null,
      attributes jsonb not null,
      update_time timestamptz(3) not null,
      primary key (org_id, member_id, customer_id),
      foreign key (customer_id, org_id, source_id) references scim_sources (customer_id, org_id, id) on delete cascade,
      foreign key (customer_id, org_id, member_id) references members (customer_id, org_id, id) on delete cascade
    )`,
    `create unique index scim_users_user_key on scim_users (org_id, source_id, user_key, customer_id)`,
    `create unique index scim_users_external_id on scim_users (org_id, source_id, external_id, customer_id) where (external_id is not null)`,
    `create index scim_users_display_key on scim_users (org_id, source_id, display_key)`,
    `create index scim_users_source on scim_users (org_id, source_id, member_id)`,
    `create index scim_users_emails on scim_users using gin (emails)`,
    `create table scim_groups (
      customer_id uuid not null,
      org_id uuid not null,
      source_id uuid not null,
      group_id uuid not null,
      display_name text not null,
      display_key text not null,
      external_id text,
      update_time timestamptz(3) not null,
      primary key (org_id, group_id, customer_id),
      foreign key (customer_id, org_id, source_id) references scim_sources (customer_id, org_id, id) on delete cascade,
      foreign key (customer_id, org_id, group_id) references groups (customer_id, org_id, id) on delete cascade
    )`,
    `create unique index scim_groups_display_key on scim_groups (org_id, source_id, display_key, customer_id)`,
    `create unique index scim_groups_external_id on scim_groups (org_id, source_id, external_id, customer_id) where (external_id is not null)`,
    `create index scim_groups_source on scim_groups (org_id, source_id, group_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
