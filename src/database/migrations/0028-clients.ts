import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/**
 * Creates OAuth clients and the codes that they exchange for tokens. A server of an earlier version does not end the tokens of a
 * client that is deleted: create clients when all servers are upgraded.
 */
export async function createClients(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table clients (
      org_id uuid not null references orgs,
      id uuid not null,
      redirect_uris text[] not null,
      confidential boolean not null,
      scopes text[],
      secret_hash bytea,
      previous_secret_hash bytea,
      previous_secret_expire_time timestamptz(3),
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id)
    )`,
    `create unique index clients_name_key on clients (org_id, name)`,
    `create index clients_id on clients using hash (id)`,
    ...Object.entries(ordered).map(([column, expression]) => {
      const last = column === "name" ? "" : ", id";
      return `create index clients_by_${column} on clients (org_id, ${expression}${last})`;
    }),
    `alter table sessions add column client_org_id uuid, add column oauth_client_id uuid`,
    `create index sessions_oauth_client on sessions (client_org_id, oauth_client_id) where (oauth_client_id is not null)`,
    `create table authorization_codes (
      id uuid primary key,
      hash bytea not null,
      org_id uuid not null,
      member_id uuid not null,
      token_gen uuid,
      client_org_id uuid not null,
      oauth_client_id uuid not null,
      redirect_uri text not null,
      code_challenge text not null,
      scopes text[],
      is_offline boolean not null,
      session_id uuid,
      use_time timestamptz,
      expire_time timestamptz(3) not null
    )`,
    `create index authorization_codes_by_expire_time on authorization_codes (expire_time)`,
    `create index authorization_codes_org on authorization_codes (org_id, member_id)`,
    `alter table ended_tokens drop constraint ended_tokens_type_check`,
    `alter table ended_tokens add constraint ended_tokens_type_check
      check (type in ('ApiKey', 'Session', 'Token', 'Rotation', 'Client')) not valid`,
    `alter table ended_tokens validate constraint ended_tokens_type_check`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
