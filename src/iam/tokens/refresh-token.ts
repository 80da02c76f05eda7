// Refreshes the tokens of a session. The row of the session is locked, so that of many requests with one refresh token exactly
// one replaces it. Others of the same client get the same successor, so that a client whose response was lost can repeat its request,
// and the session never has two refresh tokens that work. Those of anybody else end the session: one of the two has stolen the token
// (RFC 9700, 4.14.2), and that is found out although somebody may repeat a request at once.
import type { ViewedCaller } from "../../access/evaluation/caller-view.ts";
import type { Narrowing } from "../../access/engine/decisions/narrowing.ts";
import { serviceAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { requireAllowed } from "../../identity/authenticate.ts";
import type { RefreshToken } from "../../identity/tokens/refresh-token.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { scopesStillAllowed } from "../clients/client-rules.ts";
import { sessionDefinition } from "../sessions/definition.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { type RefreshedSession, lockSession, replaceToken } from "../sessions/refresh-store.ts";
import type { TokenDependencies } from "./dependencies.ts";
import type { IssuedTokens, TokenRequest } from "./issue-token.ts";
import { createReadNarrowing } from "./read-narrowing.ts";
import { type RefreshOrigin, refreshOriginOf } from "./refresh-origin.ts";

/** How a refresh is counted against the limits of its member. @throws ServiceError RATE_LIMITED */
export type CountRefresh = (member: { readonly memberId: string; readonly orgId: string }) => Promise<void>;

/** A request to refresh. Its scopes and project narrow the access token, and not what later refreshes may ask for. */
interface RefreshRequest extends TokenRequest, RefreshOrigin {
  /** The id of the registered client that has authenticated, or a public one that names itself; undefined for none. */
  readonly client: string | undefined;
}

/**
 * Issues the next tokens of a session.
 *
 * @param dryRun whether to check the request only. It does not tell whether the refresh token is the current one, so that nobody
 *   can wait with it until the token is replaced.
 * @returns no refresh token for a confidential client that repeats a request from elsewhere.
 * @throws ServiceError GRANT_INVALID when the token is not the current one, or its session has ended; ADDRESS_NOT_ALLOWED;
 *   FIELD_INVALID when the request is not within the session, whose refresh token is then not used up.
 */
export type RefreshSession = (
  text: string,
  request: RefreshRequest,
  count: CountRefresh,
  dryRun: boolean,
) => Promise<IssuedTokens>;

/** How long a client may repeat its request with a refresh token that was replaced. */
const graceMs = 30_000;

/**
 * A session, with what its next access token is narrowed to and the number of its refresh token, which is undefined if the client does not get
 * it; or one whose refresh token was used again.
 */
type Outcome =
  | { readonly session: RefreshedSession; readonly number: bigint | undefined; readonly narrowing: Narrowing }
  | { readonly reused: RefreshedSession };

export function createRefreshSession(dependencies: TokenDependencies): RefreshSession {
  const { database, accessTokens, refreshTokens, tokenLifeSeconds } = dependencies;
  const readNarrowing = createReadNarrowing(dependencies);
  const endReused = createEndReused(dependencies);

  /** Replaces the refresh token of a session if it is the current one, and returns the number of its successor. */
  const advance = async (
    db: WriteTransaction,
    token: RefreshToken,
    request: RefreshRequest,
    { count, dryRun }: { readonly count: CountRefresh; readonly dryRun: boolean },
  ): Promise<Outcome> => {
    const { number } = token;
    const session = await lockSession(db, token);
    if (session === undefined) throw invalid();
    requireAllowed(session.allowed_addresses ?? undefined, request.clientAddress);
    const origin = refreshOriginOf(request);
    const use = dryRun ? "checked" : useOf(session, number, request.client, origin);
    if (use !== "reused") requireClient(session, request.client);
    await count({ memberId: session.member_id, orgId: session.org_id });
    if (use === "reused") return { reused: session };
    const narrowing = await readNarrowing(credentialOf(session), request);
    if (use === "current") await replaceToken(db, session, number + 1n, origin);
    const next = { current: number + 1n, repeated: number + 1n, elsewhere: undefined, checked: undefined }[use];
    return { session, number: next, narrowing };
  };

  return async (text, request, count, dryRun) => {
    const token = refreshTokens.parse(text);
    if (token === undefined) throw invalid();
    const outcome = await inTransaction(database, (db) => advance(db, token, request, { count, dryRun }));
    if ("reused" in outcome) {
      await endReused(outcome.reused);
      throw invalid();
    }
    const { session, number, narrowing } = outcome;
    const { customer_id: customerId, org_id: orgId, member_id: memberId, id: sessionId } = session;
    const { client_id: clientId, token_gen: gen } = session;
    const credentialExpireTime = session.expire_time.getTime();
    const limits = { credentialExpireTime, allowedAddresses: session.allowed_addresses ?? undefined, ...narrowing };
    const clientOrgId = session.client_org_id ?? undefined;
    const alone = { impersonator: undefined, exchangedFrom: [] };
    const grant = { memberId, orgId, sessionId, clientId, clientOrgId, gen, ...alone, ...limits };
    const issued = await accessTokens.issue(grant, session.now, request.lifeSeconds ?? tokenLifeSeconds);
    if (number === undefined) return issued;
    return { ...issued, refreshToken: refreshTokens.format({ sessionId, customerId, number }) };
  };
}

/**
 * Returns what the use of a refresh token is: of the current one, the repetition of a request whose response may be lost, that by a
 * confidential client from elsewhere, which may have several machines, or one that shows that somebody else has the token.
 */
function useOf(
  session: RefreshedSession,
  number: bigint,
  client: string | undefined,
  origin: Buffer,
): "current" | "repeated" | "elsewhere" | "reused" {
  const { refresh_time: refreshed, refresh_origin: before, oauth_client_id: own, confidential, now } = session;
  const current = BigInt(session.refresh_count);
  // A number ahead of the current one is that of a refresh that a failover of the database has lost.
  if (number >= current) return "current";
  const isSoon = number === current - 1n && refreshed !== null && now - refreshed.getTime() <= graceMs;
  if (!isSoon || (client !== undefined && client !== own)) return "reused";
  if (before === null || before.equals(origin)) return "repeated";
  return confidential === true && client === own ? "elsewhere" : "reused";
}

/** Returns the credential within which the next access token of a session is narrowed. */
function credentialOf(session: RefreshedSession): ViewedCaller {
  return {
    memberId: session.member_id,
    orgId: session.org_id,
    credentialId: session.id,
    grantsUntil: null,
    scopes: scopesOf(session),
    projectId: session.project_id ?? undefined,
    impersonator: undefined,
    orgHead: session,
    recentHeads: [],
    time: session.now,
  };
}

/** Returns the scopes of the next access token of a session: of one of a client, those that the client still has. */
function scopesOf({ client_redirect_uris: uris, ...session }: RefreshedSession): readonly string[] | undefined {
  return uris === null ? (session.scopes ?? undefined) : scopesStillAllowed({ ...session, client_redirect_uris: uris });
}

/** Creates the function that ends the session of a refresh token that was used again: somebody else may have it. */
function createEndReused({ database, registry }: TokenDependencies) {
  const author = serviceAuthor("tenantry/refresh-token-reuse");
  return (session: RefreshedSession): Promise<void> =>
    inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: session.org_id }, state: "any" }, author, async (transaction) => {
        const rows = await readByKeys(db, sessionDefinition, [session]);
        await endSessions(
          transaction,
          registry,
          rows.filter((row) => row !== undefined),
        );
      }),
    );
}

/**
 * Checks that the registered client of a session refreshes it. A public client may leave out its name: the refresh token alone
 * is its credential.
 *
 * @throws ServiceError GRANT_INVALID
 */
function requireClient({ oauth_client_id: own, confidential }: RefreshedSession, client: string | undefined): void {
  if (client === (own ?? undefined) || (client === undefined && confidential !== true)) return;
  const message = "the refresh token is not valid for this client: the client whose session it is must authenticate";
  throw new ServiceError("GRANT_INVALID", message);
}

function invalid(): ServiceError {
  return new ServiceError("GRANT_INVALID", "the refresh token is not valid: it was replaced, or its session has ended");
}
