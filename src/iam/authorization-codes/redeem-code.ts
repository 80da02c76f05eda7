// Exchanges authorization codes for tokens. A code is used up in the transaction that starts its session, so that of many
// requests at once exactly one gets tokens. A code that is used again ends the session: somebody else may have it (RFC 6749,
// 4.1.2). Only the client has the verifier, so a request that has it, soon after, is one of several that the client sent at once:
// it is refused, and the session goes on. A code ends with the sign-in of the browser in which the client was allowed. The session
// that it starts goes on after the sign-out, and ends with the identity with which the person was signed in.
import { hash } from "node:crypto";
import { type Author, serviceAuthor } from "../../changes/author.ts";
import { beginWrite, endWrite, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { parseSecretHandle } from "../../identity/secret-handle.ts";
import { scopesStillAllowed } from "../clients/client-rules.ts";
import type { RegisteredClient } from "../clients/registered-client.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { insertSession } from "../sessions/insert-session.ts";
import { selectSessions } from "../sessions/store.ts";
import type { MemberKey } from "../sign-in/sign-in-links.ts";
import type { TokenDependencies } from "../tokens/dependencies.ts";
import type { IssuedTokens } from "../tokens/issue-token.ts";
import type { CountRefresh } from "../tokens/refresh-token.ts";
import { type FoundCode, readCode, useCode } from "./store.ts";

/** A request with a code. Its client has authenticated. */
interface CodeRequest {
  readonly client: RegisteredClient;
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
  /** How long the access token lives, in seconds; undefined for the default. */
  readonly lifeSeconds: number | undefined;
}

/**
 * Exchanges a code for the tokens of a new session.
 *
 * @param authorOf returns the author of the session. Its credential is the session itself.
 * @throws ServiceError GRANT_INVALID
 */
export type RedeemCode = (
  request: CodeRequest,
  authorOf: (member: MemberKey) => Author,
  count: CountRefresh,
) => Promise<IssuedTokens>;

const dayMs = 86_400_000;

/** How long after the use of a code the client itself may repeat its request without ending the session. */
const graceMs = 5_000;

/** RFC 7636, 4.1. */
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

export function createRedeemCode(dependencies: TokenDependencies): RedeemCode {
  const { database, registry, accessTokens, refreshTokens, sessionDays, tokenLifeSeconds } = dependencies;
  const endReplayed = createEndReplayed(dependencies);

  /** Refuses a code that was used, and ends its session unless the client itself has just used it. */
  const refuseUsed = async (code: FoundCode, request: CodeRequest): Promise<never> => {
    const wasJustUsed = code.use_time !== null && code.now - code.use_time.getTime() <= graceMs;
    const isRepeated = wasJustUsed && findProblem(code, request) === undefined;
    if (!isRepeated) await endReplayed(code);
    throw invalid();
  };

  return async (request, authorOf, count) => {
    const { client, lifeSeconds = tokenLifeSeconds } = request;
    const handle = parseSecretHandle(request.code);
    const code = handle && (await readCode(database.writes, handle));
    if (code === undefined || code.oauth_client_id !== client.id) throw invalid();
    if (code.session_id !== null) return refuseUsed(code, request);
    const problem = findProblem(code, request);
    if (problem !== undefined) throw new ServiceError("GRANT_INVALID", problem);
    const member = { orgId: code.org_id, memberId: code.member_id };
    await count(member);
    const author = authorOf(member);
    const started = await inTransaction(database, async (db) => {
      const begun = await beginWrite(db, { org: { by: "id", value: member.orgId }, state: "any" }, author);
      const sessionId = begun.newId();
      const used = await useCode(begun, code, sessionId);
      if (used === undefined) return undefined;
      const scopes = scopesStillAllowed({ ...code, ...used });
      const now = begun.org.lockTime.getTime();
      const expireTime = now + (code.is_offline ? sessionDays * dayMs : lifeSeconds * 1_000);
      const origin = { ...author.origin, credentialId: sessionId };
      const transaction = { ...begun, author: { ...author, origin } };
      const gen = await insertSession(transaction, registry, {
        member_id: member.memberId,
        id: sessionId,
        client_id: client.id,
        api_key_id: null,
        browser_session_id: null,
        identity_id: used.identity_id,
        oauth_client_id: client.id,
        client_org_id: client.org_id,
        redirect_uri: code.redirect_uri,
        scopes: scopes === undefined ? null : [...scopes],
        project_id: null,
        allowed_addresses: null,
        expire_time: new Date(expireTime),
      });
      await endWrite(transaction);
      return { sessionId, customerId: begun.org.customer_id, gen, now, expireTime, scopes };
    });
    if (started === undefined) throw invalid();
    const { sessionId, customerId, gen, now, expireTime, scopes } = started;
    const ofClient = { sessionId, clientId: client.id, clientOrgId: client.org_id };
    const narrowing = { scopes, projectId: undefined, allowedAddresses: undefined };
    const grant = {
      ...member,
      ...ofClient,
      ...narrowing,
      gen,
      credentialExpireTime: expireTime,
      impersonator: undefined,
      exchangedFrom: [],
    };
    const issued = await accessTokens.issue(grant, now, lifeSeconds);
    if (!code.is_offline) return issued;
    return { ...issued, refreshToken: refreshTokens.format({ sessionId, customerId, number: 0n }) };
  };
}

/** Returns why a request is not that of the client to which a code was sent; undefined if it is. */
function findProblem(code: FoundCode, { redirectUri, verifier }: CodeRequest): string | undefined {
  if (code.redirect_uri !== redirectUri) return "the redirect_uri must be the one of the request for the code";
  if (verifierPattern.test(verifier) && hash("sha256", verifier, "base64url") === code.code_challenge) return undefined;
  return "the code_verifier must be the one whose S256 challenge the request for the code had";
}

/** Creates the function that ends the session of a code that was used again. */
function createEndReplayed({ database, registry }: TokenDependencies) {
  const author = serviceAuthor("tenantry/authorization-code-reuse");
  return ({ org_id: orgId, session_id: sessionId }: FoundCode): Promise<void> =>
    inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: orgId }, state: "any" }, author, async (transaction) => {
        const rows = await selectSessions(db)
          .where("sessions.org_id", "=", orgId)
          .where("sessions.id", "=", sessionId)
          .execute();
        await endSessions(transaction, registry, rows);
      }),
    );
}

function invalid(): ServiceError {
  const message =
    "the code is not valid: it is mistyped, was used, is older than a minute, is for another client, or its sign-in has ended";
  return new ServiceError("GRANT_INVALID", message);
}
