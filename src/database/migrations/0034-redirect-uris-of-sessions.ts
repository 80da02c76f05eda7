import { type Kysely, sql } from "kysely";

/**
 * Adds the redirect URI of the code with which the session of a client was started: the session is refreshed only while the client has it.
 * A server of an earlier version leaves it null, and does not read it. A session without it is refreshed whatever the client has.
 */
export async function addRedirectUrisOfSessions(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions add column redirect_uri text`.execute(db);
  await sql`
    update sessions set redirect_uri = authorization_codes.redirect_uri from authorization_codes
    where authorization_codes.org_id = sessions.org_id and authorization_codes.session_id = sessions.id`.execute(db);
}
