import { type Kysely, sql } from "kysely";

/** Creates identity providers, the identities of members, and the identity with which a browser session was started. */
export async function createIdentities(db: Kysely<unknown>): Promise<void> {
  const named = `name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now()`;
  const statements = [
    `create table identity_providers (
      org_id uuid not null references orgs,
      id uuid not null,
      issuer text not null,
      client_id text not null,
      sealed_secret bytea,
      scopes text[] not null,
      ${named},
      primary key (org_id, id)
    )`,
    `create unique index identity_providers_name_key on identity_providers (org_id, name)`,
    `create index identity_providers_id on identity_providers using hash (id)`,
    ...["name", "display_name", "create_time", "update_time"].map((column) => {
      const last =
        { name: `name collate "C"`, display_name: `display_name collate "C", id` }[column] ?? `${column}, id`;
      return `create index identity_providers_by_${column} on identity_providers (org_id, ${last})`;
    }),
    `create table identities (
      org_id uuid not null,
      member_id uuid not null,
      id uuid not null,
      provider_id uuid not null,
      subject text not null,
      ${named},
      primary key (org_id, member_id, id),
      foreign key (org_id, member_id) references members
    )`,
    `create unique index identities_name_key on identities (org_id, member_id, name)`,
    `create unique index identities_subject_key on identities (provider_id, subject, org_id)`,
    `create index identities_id on identities using hash (id)`,
    `alter table sessions add column identity_id uuid`,
    `create index sessions_identity on sessions (org_id, identity_id) where (identity_id is not null)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
