import { type Kysely, sql } from "kysely";

/**
 * Creates the hierarchy, API keys and the change log. Keys of tables in orgs start with org_id, so that they can be partitioned
 * by org.
 */
export async function createResources(db: Kysely<unknown>): Promise<void> {
  const named = `
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision bigint not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now()`;
  const deletable = `
      delete_time timestamptz(3),
      purge_time timestamptz(3),
      check ((delete_time is null) = (purge_time is null))`;

  const statements = [
    `create table customers (
      id uuid primary key,${named},${deletable}
    )`,
    `create unique index customers_name_key on customers (name) where delete_time is null`,

    `create table orgs (
      id uuid primary key,
      customer_id uuid not null references customers,
      state text not null check (state in ('ACTIVE', 'SUSPENDED')),
      revision bigint not null,${named},${deletable}
    )`,
    `create unique index orgs_name_key on orgs (name) where delete_time is null`,
    `create index orgs_customer on orgs (customer_id)`,

    `create table projects (
      org_id uuid not null references orgs,
      id uuid not null,
      state text not null check (state in ('ACTIVE', 'SUSPENDED')),${named},${deletable},
      primary key (org_id, id)
    )`,
    `create unique index projects_name_key on projects (org_id, name) where delete_time is null`,
    `create index projects_id on projects (id)`,

    `create table members (
      org_id uuid not null references orgs,
      id uuid not null,
      type text not null check (type in ('USER', 'APPLICATION')),
      state text not null check (state in ('INVITED', 'ACTIVE', 'SUSPENDED')),${named},${deletable},
      primary key (org_id, id)
    )`,
    `create unique index members_name_key on members (org_id, name) where delete_time is null`,
    `create index members_id on members (id)`,

    `create table api_keys (
      org_id uuid not null,
      member_id uuid not null,
      id uuid not null,
      prefix text not null,
      hash bytea not null,
      expire_time timestamptz(3),
      last_use_time timestamptz(3),${named},
      primary key (org_id, member_id, id),
      foreign key (org_id, member_id) references members on delete cascade
    )`,
    `create unique index api_keys_name_key on api_keys (org_id, member_id, name)`,
    `create unique index api_keys_prefix_key on api_keys (prefix)`,
    `create index api_keys_id on api_keys (id)`,

    `create table groups (
      org_id uuid not null references orgs,
      id uuid not null,${named},
      primary key (org_id, id)
    )`,
    `create unique index groups_name_key on groups (org_id, name)`,
    `create index groups_id on groups (id)`,

    `create table group_members (
      org_id uuid not null,
      group_id uuid not null,
      member_id uuid not null,
      expire_time timestamptz(3),
      changed_revision bigint not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, group_id, member_id),
      foreign key (org_id, group_id) references groups on delete cascade,
      foreign key (org_id, member_id) references members on delete cascade
    )`,
    `create index group_members_member on group_members (org_id, member_id)`,

    `create table subgroups (
      org_id uuid not null,
      group_id uuid not null,
      subgroup_id uuid not null,
      description text not null,
      changed_revision bigint not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, group_id, subgroup_id),
      foreign key (org_id, group_id) references groups on delete cascade,
      foreign key (org_id, subgroup_id) references groups on delete cascade,
      check (group_id <> subgroup_id)
    )`,
    `create index subgroups_subgroup on subgroups (org_id, subgroup_id)`,

    `create table changes (
      org_id uuid not null references orgs,
      revision bigint not null,
      position integer not null,
      actor_id uuid,
      method text not null,
      resource_type text not null,
      resource_id uuid not null,
      resource_path text not null,
      before jsonb,
      after jsonb,
      create_time timestamptz(3) not null default now(),
      primary key (org_id, revision, position),
      check (before is not null or after is not null)
    )`,

    `create table installation (
      singleton boolean primary key default true check (singleton),
      system_org_id uuid not null references orgs,
      operator_id uuid not null,
      page_token_key bytea not null,
      foreign key (system_org_id, operator_id) references members
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
