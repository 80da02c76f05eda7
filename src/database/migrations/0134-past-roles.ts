import { type Kysely, sql } from "kysely";

/** Creates the table of what the predefined roles were. A server of the version before does not write it, and its roles are then not known. */
export async function createPastRoles(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table past_roles (
      time timestamptz primary key,
      permissions jsonb not null
    )`.execute(db);
}
