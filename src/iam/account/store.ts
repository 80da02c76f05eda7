// What can act as members: their API keys, sessions, identities and one-time codes.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { type ApiKeyRow, selectApiKeys } from "../api-keys/store.ts";
import { type IdentityRow, selectIdentities } from "../identities/store.ts";
import { type SessionRow, selectSessions } from "../sessions/store.ts";
import type { MemberKey } from "../sign-in/sign-in-links.ts";
import { isSignedIn, isUnexpired } from "../sign-in/store.ts";
import { clockMs, readClock } from "../../database/clock.ts";

/** What can act as a member now, the oldest first. */
export interface WaysOfMember {
  readonly keys: readonly ApiKeyRow[];
  /** Those of browsers, of API keys, and of the clients that the member has allowed. */
  readonly sessions: readonly SessionRow[];
  readonly identities: readonly IdentityRow[];
  /** When the one-time codes end with which the member could sign in. */
  readonly codes: readonly { readonly expire_time: Date }[];
  /** Whether there are more of any of them. */
  readonly areMore: boolean;
}

/**
 * Reads what can act as a member, some thousands of each at most. Each member is read alone, so that an org with very many hides nothing
 * of others.
 */
export async function readWays(db: Kysely<Schema>, { orgId, memberId }: MemberKey): Promise<WaysOfMember> {
  const isTheirs = (table: string): RawBuilder<SqlBool> => sql<SqlBool>`
    (${sql.ref(`${table}.org_id`)}, ${sql.ref(`${table}.member_id`)}) = (${orgId}::uuid, ${memberId}::uuid)`;
  const now = await readClock(db);
  const keys = await selectApiKeys(db)
    .where(isTheirs("api_keys"))
    .where(sql<SqlBool>`(api_keys.expire_time is null or api_keys.expire_time > ${now})`)
    .orderBy("api_keys.id")
    .limit(maxRows + 1)
    .execute();
  const sessions = await selectSessions(db)
    .where(isTheirs("sessions"))
    .where(sql<SqlBool>`sessions.token_gen is not distinct from members.token_gen`)
    .orderBy("sessions.id")
    .limit(maxRows + 1)
    .execute();
  const identities = await selectIdentities(db)
    .where(isTheirs("identities"))
    .orderBy("identities.id")
    .limit(maxRows + 1)
    .execute();
  const codes = await db
    .selectFrom("sign_in_links")
    .select(["org_id", "member_id", "expire_time"])
    .where(isTheirs("sign_in_links"))
    .where(sql<SqlBool>`expire_time > ${now}`)
    .orderBy("id")
    .limit(maxRows + 1)
    .execute();
  const areMore = [keys, sessions, identities, codes].some(({ length }) => length > maxRows);
  return { keys, sessions, identities, codes, areMore };
}

const maxRows = 5_000;

/**
 * Reads the sign-in of a browser as a member.
 *
 * @returns the identity with which it was started, null if it was started without one; undefined if the browser is no longer signed in.
 */
export async function readSignInOf(
  db: Kysely<Schema>,
  { orgId, memberId, sessionId }: MemberKey & { readonly sessionId: string },
): Promise<{ readonly identityId: string | null } | undefined> {
  const { rows } = await sql<Parameters<typeof isUnexpired>[0] & { readonly identityId: string | null }>`
    select sessions.identity_id as "identityId", browser_sessions.expire_time as browser_expire_time,
      sessions.expire_time as session_expire_time, ${clockMs} as now
    from sessions
    join browser_sessions on browser_sessions.id = sessions.browser_session_id
    join members on members.customer_id = sessions.customer_id and members.org_id = sessions.org_id and members.id = sessions.member_id
    join orgs on orgs.customer_id = sessions.customer_id and orgs.id = sessions.org_id
    where sessions.org_id = ${orgId} and sessions.member_id = ${memberId} and sessions.id = ${sessionId}
      and ${isSignedIn}`.execute(db);
  return rows.find(isUnexpired);
}

/** Reads the first API keys of a member, also those that have expired. */
export function readFirstKeys(db: Kysely<Schema>, { orgId, memberId }: MemberKey, limit: number): Promise<ApiKeyRow[]> {
  return selectApiKeys(db)
    .where("api_keys.org_id", "=", orgId)
    .where("api_keys.member_id", "=", memberId)
    .orderBy("api_keys.id")
    .limit(limit)
    .execute();
}

export function readFirstIdentities(
  db: Kysely<Schema>,
  { orgId, memberId }: MemberKey,
  keptId: string | null,
  limit: number,
): Promise<IdentityRow[]> {
  return selectIdentities(db)
    .where("identities.org_id", "=", orgId)
    .where("identities.member_id", "=", memberId)
    .where(sql<SqlBool>`identities.id is distinct from ${keptId}::uuid`)
    .orderBy("identities.id")
    .limit(limit)
    .execute();
}
