import { type Kysely, sql } from "kysely";

/** Creates the sign-ins of browsers, and the links with which a member signs in once. */
export async function createBrowserSessions(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table browser_sessions (
      id uuid primary key,
      hash bytea not null,
      sign_in_time timestamptz(3) not null,
      expire_time timestamptz(3) not null
    )`,
    `create index browser_sessions_by_expire_time on browser_sessions (expire_time)`,
    `alter table sessions add column browser_session_id uuid`,
    `create index sessions_browser on sessions (browser_session_id) where (browser_session_id is not null)`,
    `create table sign_in_links (
      id uuid primary key,
      hash bytea not null,
      org_id uuid not null,
      member_id uuid not null,
      expire_time timestamptz(3) not null
    )`,
    `create index sign_in_links_by_expire_time on sign_in_links (expire_time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
