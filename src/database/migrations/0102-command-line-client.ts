import { type Kysely, sql } from "kysely";

/**
 * Adds the OAuth client with which the command line signs people in. The first server of this version creates it; servers of an earlier
 * version do not write it.
 */
export async function addCommandLineClient(db: Kysely<unknown>): Promise<void> {
  await sql`alter table installation add column command_line_client_id uuid`.execute(db);
}
