// Refreshes the tokens of a session. The row of the session is locked, so that of many requests with one refresh token exactly
// one replaces it. All others get the same successor, so that a client whose response was lost can repeat its request, and
// the session never has two refresh tokens that work.
import { type Transaction, sql } from "kysely";
import { serviceAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { requireAllowed } from "../../identity/authenticate.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { RefreshToken } from "../../identity/tokens/refresh-token.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { scopesStillAllowed } from "../clients/client-rules.ts";
import { sessionDefinition } from "../sessions/definition.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import type { TokenDependencies } from "./dependencies.ts";
import type { IssuedTokens, TokenRequest } from "./issue-token.ts";
import { clockMs } from "../../database/clock.ts";

/** How a refresh is counted against the limits of its member. @throws ServiceError RATE_LIMITED */
export type CountRefresh = (member: { readonly memberId: string; readonly orgId: string }) => Promise<void>;

/** A request to refresh. */
interface RefreshRequest extends Pick<TokenRequest, "lifeSeconds"> {
  /** The IP address of the client; null if it is not known. */
  readonly clientAddress: string | null;
  /** The id of the registered client that has authenticated, or a public one that names itself; undefined for none. */
  readonly client: string | undefined;
}

/**
 * Issues the next tokens of a session.
 *
 * @param dryRun whether to check the token only.
 * @throws ServiceError GRANT_INVALID when the token is not the current one, or its session has ended; ADDRESS_NOT_ALLOWED.
 */
export type RefreshSession = (
  text: string,
  request: RefreshRequest,
  count: CountRefresh,
  dryRun: boolean,
) => Promise<IssuedTokens>;

/** How long a refresh token that was replaced still gets the same successor. */
const graceMs = 30_000;

interface FoundSession {
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
  /** When it was refreshed last; null if it was not. */
  readonly refresh_time: Date | null;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/** A session whose refresh token was replaced, with the scopes of its next access token, or whose token was used again. */
type Outcome =
  | { readonly session: FoundSession; readonly number: bigint; readonly scopes: readonly string[] | undefined }
  | { readonly reused: FoundSession };

export function createRefreshSession(dependencies: TokenDependencies): RefreshSession {
  const { database, accessTokens, refreshTokens, tokenLifeSeconds } = dependencies;
  const endReused = createEndReused(dependencies);
  return async (text, { lifeSeconds = tokenLifeSeconds, clientAddress, client }, count, dryRun) => {
    const token = refreshTokens.parse(text);
    if (token === undefined) throw invalid();
    const outcome = await inTransaction(database, (db) => advance(db, token, { clientAddress, client, count, dryRun }));
    if ("reused" in outcome) {
      if (!dryRun) await endReused(outcome.reused);
      throw invalid();
    }
    const { session, number, scopes } = outcome;
    const { org_id: orgId, member_id: memberId, id: sessionId, client_id: clientId, token_gen: gen } = session;
    const narrowing = { scopes, projectId: session.project_id ?? undefined };
    const credentialExpireTime = session.expire_time.getTime();
    const limits = { credentialExpireTime, allowedAddresses: session.allowed_addresses ?? undefined, ...narrowing };
    const clientOrgId = session.client_org_id ?? undefined;
    const alone = { impersonator: undefined, exchangedFrom: [] };
    const grant = { memberId, orgId, sessionId, clientId, clientOrgId, gen, ...alone, ...limits };
    const issued = await accessTokens.issue(grant, session.now, lifeSeconds);
    return { ...issued, refreshToken: refreshTokens.format({ sessionId, number }) };
  };
}

/** Replaces the refresh token of a session if it is the current one, and returns the number of its successor. */
async function advance(
  db: Transaction<Schema>,
  { sessionId, number }: RefreshToken,
  {
    clientAddress,
    client,
    count,
    dryRun,
  }: Pick<RefreshRequest, "clientAddress" | "client"> & {
    readonly count: CountRefresh;
    readonly dryRun: boolean;
  },
): Promise<Outcome> {
  const session = await lockSession(db, sessionId);
  if (session === undefined) throw invalid();
  requireClient(session, client);
  requireAllowed(session.allowed_addresses ?? undefined, clientAddress);
  await count({ memberId: session.member_id, orgId: session.org_id });
  const current = BigInt(session.refresh_count);
  // A number ahead of the current one is that of a refresh that a failover of the database has lost.
  if (number >= current) {
    const scopes = scopesOf(session);
    if (!dryRun) await replaceToken(db, session, number + 1n);
    return { session, number: number + 1n, scopes };
  }
  const isRepeated =
    number === current - 1n && session.refresh_time !== null && session.now - session.refresh_time.getTime() <= graceMs;
  return isRepeated ? { session, number: current, scopes: scopesOf(session) } : { reused: session };
}

/** Returns the scopes of the next access token of a session: of one of a client, those that the client still has. */
function scopesOf({ client_redirect_uris: uris, ...session }: FoundSession): readonly string[] | undefined {
  return uris === null ? (session.scopes ?? undefined) : scopesStillAllowed({ ...session, client_redirect_uris: uris });
}

/** Locks a session that has not ended. */
async function lockSession(db: Transaction<Schema>, id: string): Promise<FoundSession | undefined> {
  const { rows } = await sql<FoundSession>`
    with locked as materialized (
      select * from sessions where id = ${id} for no key update
    )
    select locked.org_id, locked.member_id, locked.id, locked.client_id, locked.token_gen, locked.refresh_count,
      locked.scopes, locked.project_id, locked.allowed_addresses, locked.oauth_client_id, locked.client_org_id,
      locked.redirect_uri, clients.confidential, clients.redirect_uris as client_redirect_uris, clients.scopes as client_scopes,
      locked.expire_time, locked.refresh_time, ${clockMs} as now
    from locked
    join members on members.org_id = locked.org_id and members.id = locked.member_id
    join orgs on orgs.id = locked.org_id
    left join clients on clients.org_id = locked.client_org_id and clients.id = locked.oauth_client_id
    where ${isActiveMember}
      and (locked.oauth_client_id is null or (clients.id is not null and orgs.state = 'ACTIVE'))
      and locked.token_gen is not distinct from members.token_gen`.execute(db);
  const [session] = rows;
  return session === undefined || session.expire_time.getTime() <= session.now ? undefined : session;
}

async function replaceToken(
  db: Transaction<Schema>,
  { org_id, member_id, id, now }: FoundSession,
  next: bigint,
): Promise<void> {
  await db
    .updateTable("sessions")
    .set({ refresh_count: String(next), refresh_time: new Date(now) })
    .where("org_id", "=", org_id)
    .where("member_id", "=", member_id)
    .where("id", "=", id)
    .execute();
}

/** Creates the function that ends the session of a refresh token that was used again: somebody else may have it. */
function createEndReused({ database, registry }: TokenDependencies) {
  const author = serviceAuthor("tenantry/refresh-token-reuse");
  return (session: FoundSession): Promise<void> =>
    inTransaction(database, (db) =>
      writeInOrg(
        db,
        { by: "id", value: session.org_id },
        author,
        async (transaction) => {
          const rows = await readByKeys(db, sessionDefinition, [session]);
          await endSessions(
            transaction,
            registry,
            rows.filter((row) => row !== undefined),
          );
        },
        "any",
      ),
    );
}

/**
 * Checks that the registered client of a session refreshes it. A public client may leave out its name: the refresh token alone
 * is its credential.
 *
 * @throws ServiceError GRANT_INVALID
 */
function requireClient({ oauth_client_id: own, confidential }: FoundSession, client: string | undefined): void {
  if (client === (own ?? undefined) || (client === undefined && confidential !== true)) return;
  const message = "the refresh token is not valid for this client: the client whose session it is must authenticate";
  throw new ServiceError("GRANT_INVALID", message);
}

function invalid(): ServiceError {
  return new ServiceError("GRANT_INVALID", "the refresh token is not valid: it was replaced, or its session has ended");
}
