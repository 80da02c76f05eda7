import { type Kysely, sql } from "kysely";

/**
 * Lets identities of the installation's providers wait until their person accepts them, and browsers choose among members. Those that
 * exist are accepted, by a default of that moment: no row is written, so no table is locked for long. A server of an earlier version
 * does not read the new columns: until all servers are upgraded, one of them signs a person in as all of its members, also those whose
 * identities wait.
 */
export async function acceptIdentities(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table identities
      add column creator_org_id uuid,
      add column creator_id uuid,
      add column accept_time timestamptz(3) default now(),
      add column decline_time timestamptz(3)`,
    `alter table identities alter column accept_time drop default`,
    `alter table browser_sessions add column choices jsonb`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
