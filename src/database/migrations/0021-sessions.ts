import { type Kysely, sql } from "kysely";

/** Creates sessions, in which clients refresh their tokens. */
export async function createSessions(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table sessions (
      org_id uuid not null,
      member_id uuid not null,
      id uuid not null,
      client_id text not null,
      api_key_id uuid,
      token_gen uuid,
      scopes text[],
      project_id uuid,
      user_agent text not null,
      refresh_count bigint not null default 0,
      refresh_time timestamptz(3),
      expire_time timestamptz(3) not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, member_id, id),
      foreign key (org_id, member_id) references members
    )`,
    `create index sessions_by_create_time on sessions (org_id, member_id, create_time, id)`,
    `create index sessions_id on sessions using hash (id)`,
    `create index sessions_api_key on sessions (org_id, api_key_id) where (api_key_id is not null)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
