// The row of a session whose tokens are refreshed.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { RefreshToken } from "../../identity/tokens/refresh-token.ts";

/** A session that is refreshed, with its client as it is now. */
export interface RefreshedSession {
  readonly customer_id: string;
  readonly org_id: string;
  readonly member_id: string;
  readonly id: string;
  readonly client_id: string;
  /** The registered client whose session it is; null for none. */
  readonly oauth_client_id: string | null;
  readonly client_org_id: string | null;
  readonly confidential: boolean | null;
  /** The redirect URI with which the client got its code; null for other sessions. */
  readonly redirect_uri: string | null;
  /** What the client has now; null for other sessions, and for all scopes. */
  readonly client_redirect_uris: readonly string[] | null;
  readonly client_scopes: readonly string[] | null;
  readonly token_gen: string | null;
  readonly scopes: readonly string[] | null;
  readonly project_id: string | null;
  readonly allowed_addresses: readonly string[] | null;
  readonly refresh_count: string;
  readonly expire_time: Date;
  /** The revision of its org, of the same read as everything else. */
  readonly revision: string;
  /** When it was refreshed last; null if it was not. */
  readonly refresh_time: Date | null;
  /** Where that came from, as `refreshOriginOf` says it; null if a server of an earlier version did it. */
  readonly refresh_origin: Buffer | null;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** When the read started, in milliseconds of this process's own clock. */
  readonly readAt: number;
}

/** Locks the session of a token, if it has not ended, together with the beginning of the transaction. */
export async function lockSession(db: WriteTransaction, token: RefreshToken): Promise<RefreshedSession | undefined> {
  const readAt = performance.now();
  const statement = sql<Omit<RefreshedSession, "readAt">>`
    with locked as materialized (
      select * from sessions where ${isSessionOf(token)} for no key update
    )
    select locked.customer_id, locked.org_id, locked.member_id, locked.id, locked.client_id, locked.token_gen, locked.refresh_count, locked.refresh_origin,
      locked.scopes, locked.project_id, locked.allowed_addresses, locked.oauth_client_id, locked.client_org_id,
      locked.redirect_uri, clients.confidential, clients.redirect_uris as client_redirect_uris, clients.scopes as client_scopes,
      locked.expire_time, locked.refresh_time, orgs.revision, ${clockMs} as now
    from locked
    join members on members.customer_id = locked.customer_id and members.org_id = locked.org_id and members.id = locked.member_id
    join orgs on orgs.customer_id = locked.customer_id and orgs.id = locked.org_id
    left join clients on clients.org_id = locked.client_org_id and clients.id = locked.oauth_client_id
    where ${isActiveMember}
      and (locked.oauth_client_id is null or (clients.id is not null and orgs.state = 'ACTIVE'))
      and locked.token_gen is not distinct from members.token_gen`;
  const locking = db.readWithNext<Omit<RefreshedSession, "readAt">>(statement.compile(db));
  await db.sendHeld();
  const [session] = locking();
  return session === undefined || session.expire_time.getTime() <= session.now ? undefined : { ...session, readAt };
}

/** Returns the condition that a session is that of a token, to which its customer leads if the token has it. */
export function isSessionOf({ sessionId, customerId }: RefreshToken): RawBuilder<SqlBool> {
  const isIt = sql<SqlBool>`sessions.id = ${sessionId}`;
  return customerId === undefined ? isIt : sql<SqlBool>`(sessions.customer_id = ${customerId} and ${isIt})`;
}

/** Makes another number that of the current refresh token. */
export async function replaceToken(
  db: Transaction<Schema>,
  { customer_id, org_id, member_id, id, now }: RefreshedSession,
  next: bigint,
  origin: Buffer,
): Promise<void> {
  await db
    .updateTable("sessions")
    .set({ refresh_count: String(next), refresh_time: new Date(now), refresh_origin: origin })
    .where("customer_id", "=", customer_id)
    .where("org_id", "=", org_id)
    .where("member_id", "=", member_id)
    .where("id", "=", id)
    .execute();
}
