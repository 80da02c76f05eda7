import { type Kysely, sql } from "kysely";

/**
 * Lets identities of the installation's providers wait until their person accepts them, and browsers choose among members. Those that
 * exist are accepted. A server of an earlier version does not read the new columns: until all servers are upgraded, one of them signs a
 * person in as all of its members, also those whose identities wait.
 */
export async function acceptIdentities(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table identities
      add column creator_org_id uuid,
      add column creator_id uuid,
      add column accept_time timestamptz(3),
      add column decline_time timestamptz(3)`,
    `update identities set accept_time = create_time`,
    `alter table browser_sessions add column choices jsonb`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
