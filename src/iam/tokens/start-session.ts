import { isInOrgOf } from "../../database/org-key.ts";
import type { Author } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { insertSession } from "../sessions/insert-session.ts";
import type { TokenDependencies } from "./dependencies.ts";
import { createReadNarrowing } from "./read-narrowing.ts";
import { type IssuedTokens, type TokenRequest, createIssueToken, keyIsLimited } from "./issue-token.ts";

/**
 * Starts a session with the API key of a call, and issues its first tokens. Ends the oldest sessions of the key if it has too
 * many.
 *
 * @param dryRun whether to check the request only, and to return an access token like that of the session.
 * @throws ServiceError PERMISSION_DENIED for a call with a token or a limited API key.
 */
export type StartSession = (
  caller: Caller,
  request: TokenRequest,
  author: Author,
  dryRun: boolean,
) => Promise<IssuedTokens>;

const dayMs = 86_400_000;

export function createStartSession(dependencies: TokenDependencies): StartSession {
  const { database, registry, accessTokens, refreshTokens, sessionDays, tokenLifeSeconds } = dependencies;
  const readNarrowing = createReadNarrowing(dependencies);
  const issueToken = createIssueToken(dependencies);
  return async (caller, request, author, dryRun) => {
    const { lifeSeconds = tokenLifeSeconds } = request;
    requireUnlimitedKey(caller);
    if (dryRun) return issueToken(caller, request);
    const { memberId, orgId, clientId, credentialId, allowedAddresses } = caller;
    const narrowing = await readNarrowing(caller, request);
    const { sessionId, customerId, gen, now, expireTime } = await inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: orgId }, state: "any" }, author, async (transaction) => {
        const id = transaction.newId();
        // A rotation can have given the key an earlier end since the call was authenticated.
        const key = await db
          .selectFrom("api_keys")
          .select("expire_time")
          .where(isInOrgOf("api_keys", transaction.org))
          .where("member_id", "=", memberId)
          .where("id", "=", credentialId)
          .executeTakeFirst();
        const keyEnd = required(key).expire_time;
        const startTime = transaction.org.lockTime.getTime();
        const end = Math.min(startTime + sessionDays * dayMs, keyEnd?.getTime() ?? Infinity);
        const tokenGen = await insertSession(transaction, registry, {
          member_id: memberId,
          id,
          client_id: clientId,
          api_key_id: credentialId,
          browser_session_id: null,
          oauth_client_id: null,
          client_org_id: null,
          identity_id: null,
          scopes: narrowing.scopes === undefined ? null : [...narrowing.scopes],
          project_id: narrowing.projectId ?? null,
          allowed_addresses: allowedAddresses === undefined ? null : [...allowedAddresses],
          expire_time: new Date(end),
        });
        const ids = { sessionId: id, customerId: transaction.org.customer_id };
        return { ...ids, gen: tokenGen, now: startTime, expireTime: end };
      }),
    );
    const limits = { credentialExpireTime: expireTime, allowedAddresses, ...narrowing };
    const grant = {
      memberId,
      orgId,
      sessionId,
      clientId,
      clientOrgId: undefined,
      gen,
      impersonator: undefined,
      exchangedFrom: [],
      ...limits,
    };
    const issued = await accessTokens.issue(grant, now, lifeSeconds);
    return { ...issued, refreshToken: refreshTokens.format({ sessionId, customerId, number: 0n }) };
  };
}

/** @throws ServiceError PERMISSION_DENIED */
function requireUnlimitedKey({ token, grantsUntil }: Caller): void {
  if (token !== undefined) {
    throw new ServiceError(
      "PERMISSION_DENIED",
      "a session is started with an API key: the credential of the call is an access token",
    );
  }
  if (grantsUntil !== null) throw keyIsLimited("start a session");
}
