import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { IssuedToken } from "../../identity/tokens/access-token.ts";
import { type NarrowingRequest, createReadNarrowing } from "./read-narrowing.ts";
import type { TokenDependencies } from "./dependencies.ts";

export interface TokenRequest extends NarrowingRequest {
  /** How long the token lives; undefined for the default. */
  readonly lifeSeconds: number | undefined;
}

/** An access token, and the refresh token of its session if it has one. */
export interface IssuedTokens extends IssuedToken {
  readonly refreshToken?: string;
}

/**
 * Issues an access token in exchange for the API key of a call, or for its access token, with whose end or revocation the new one
 * ends.
 *
 * @throws ServiceError PERMISSION_DENIED for a limited API key, for a token with which a member is impersonated, and for one that is
 *   the last of too many exchanges.
 */
export type IssueToken = (caller: Caller, request: TokenRequest) => Promise<IssuedToken>;

/** How many tokens may be exchanged one for the other: the last one names all of them. */
const maxExchanges = 4;

export function createIssueToken(dependencies: TokenDependencies): IssueToken {
  const { accessTokens, viewCaller, tokenLifeSeconds } = dependencies;
  const readNarrowing = createReadNarrowing(dependencies);
  return async (caller, request) => {
    const { lifeSeconds = tokenLifeSeconds } = request;
    // What counts for a limited key is read from the key for each call.
    if (caller.grantsUntil !== null) throw keyIsLimited("be exchanged for a token");
    if (caller.impersonator !== undefined) throw isImpersonated();
    const { memberId, orgId, credentialId, clientId, credentialExpireTime, allowedAddresses, token } = caller;
    const exchangedFrom = token === undefined ? [] : [...token.exchangedFrom, token.id];
    if (exchangedFrom.length > maxExchanges) throw exchangedTooOften();
    const { snapshot } = await viewCaller(caller);
    const grant = {
      memberId,
      orgId,
      sessionId: credentialId,
      clientId,
      clientOrgId: token?.clientOrgId,
      gen: token === undefined ? snapshot.tokens.genOf(memberId) : token.gen,
      credentialExpireTime: credentialExpireTime?.getTime() ?? null,
      allowedAddresses,
      impersonator: undefined,
      exchangedFrom,
      ...(await readNarrowing(caller, request)),
    };
    return accessTokens.issue(grant, caller.time, lifeSeconds, token?.expireTime);
  };
}

function isImpersonated(): ServiceError {
  const message = "a token with which a member is impersonated cannot be exchanged";
  return new ServiceError("PERMISSION_DENIED", message);
}

function exchangedTooOften(): ServiceError {
  const message = `a token that is the last of ${maxExchanges} exchanges cannot be exchanged: use an earlier token, or the API key`;
  return new ServiceError("PERMISSION_DENIED", message);
}

/** Returns the error for what cannot be done with a limited API key, such as to `start a session`. */
export function keyIsLimited(what: string): ServiceError {
  const message = `a limited API key cannot ${what}: its member or an owner of the org must confirm the key first`;
  return new ServiceError("PERMISSION_DENIED", message, { metadata: { limited: "true" } });
}
