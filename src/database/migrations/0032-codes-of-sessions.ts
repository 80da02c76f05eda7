import { type Kysely, sql } from "kysely";

/**
 * Adds the session of the browser in which a member allows a client, with which the code ends. A server of an earlier version
 * leaves it null, and does not read it: until all servers are upgraded, a code that one of them creates or redeems does not end
 * with the session, nor the session of the client with the identity.
 */
export async function addSessionsOfCodes(db: Kysely<unknown>): Promise<void> {
  await sql`alter table authorization_codes add column allowing_session_id uuid`.execute(db);
}
