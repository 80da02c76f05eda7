import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import type { AllowedTerms } from "../clients/client-rules.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { clockMs } from "../../database/clock.ts";

/** A code, and the database's clock. */
export interface FoundCode {
  readonly id: string;
  readonly org_id: string;
  readonly member_id: string;
  readonly token_gen: string | null;
  readonly client_org_id: string;
  readonly oauth_client_id: string;
  readonly redirect_uri: string;
  readonly code_challenge: string;
  readonly scopes: string[] | null;
  readonly is_offline: boolean;
  /** The session of the browser in which the member allowed the client; null in a code of a server of an earlier version. */
  readonly allowing_session_id: string | null;
  /** The session that the code was exchanged for; null before. */
  readonly session_id: string | null;
  /** When the code was used; null before. */
  readonly use_time: Date | null;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/** What a code that was used up leads to. */
interface UsedCode extends Pick<AllowedTerms, "client_redirect_uris" | "client_scopes"> {
  /** The identity with which the member is signed in; null without one. */
  readonly identity_id: string | null;
}

export async function readCode(db: Kysely<Schema>, handle: SecretHandle): Promise<FoundCode | undefined> {
  const { rows } = await sql<FoundCode>`
    select id, org_id, member_id, token_gen, client_org_id, oauth_client_id, redirect_uri, code_challenge, scopes,
      is_offline, allowing_session_id, session_id, use_time, ${clockMs} as now
    from authorization_codes
    where customer_id = ${handle.customerId} and id = ${handle.id} and hash = ${handle.hash}`.execute(db);
  return rows[0];
}

/**
 * Uses a code up for a session, under the lock of its org. Of many at once, exactly one succeeds.
 *
 * @returns the identity with which the member is signed in, and what its client has now, if it does: the code was not used, has not expired, its member is
 *   active and has had no end of all its tokens since, its org and client are there, and the browser is still signed in as its
 *   member. Undefined otherwise.
 */
export async function useCode(
  { db, org, time }: OrgTransaction,
  { id, allowing_session_id: allowingSessionId }: FoundCode,
  sessionId: string,
): Promise<UsedCode | undefined> {
  const { rows } = await sql<UsedCode>`
    update authorization_codes set session_id = ${sessionId}, use_time = ${time}
    from members
      join orgs on orgs.customer_id = members.customer_id and orgs.id = members.org_id
      left join (sessions join browser_sessions on browser_sessions.id = sessions.browser_session_id)
        on sessions.customer_id = members.customer_id and sessions.org_id = members.org_id and sessions.member_id = members.id and sessions.id = ${allowingSessionId}
          and sessions.expire_time > ${org.lockTime} and browser_sessions.expire_time > ${org.lockTime},
      clients
    where authorization_codes.customer_id = ${org.customer_id} and authorization_codes.id = ${id} and authorization_codes.session_id is null
      and (authorization_codes.allowing_session_id is null or sessions.id is not null)
      and authorization_codes.expire_time > ${org.lockTime}
      and members.customer_id = authorization_codes.customer_id and members.org_id = authorization_codes.org_id and members.id = authorization_codes.member_id
      and members.token_gen is not distinct from authorization_codes.token_gen
      and ${isActiveMember} and orgs.state = 'ACTIVE'
      and clients.org_id = authorization_codes.client_org_id and clients.id = authorization_codes.oauth_client_id
    returning sessions.identity_id, clients.redirect_uris as client_redirect_uris, clients.scopes as client_scopes`.execute(
    db,
  );
  return rows[0];
}
