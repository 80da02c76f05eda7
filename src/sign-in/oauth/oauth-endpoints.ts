// The endpoints of OAuth 2.0: token (RFC 6749), introspection (RFC 7662) and revocation (RFC 7009). They take forms and return
// errors as these standards say, and call the same functions as TokensService.
import type { Logger } from "pino";
import { impersonatorOf } from "../../access/tokens/impersonation.ts";
import type { Author } from "../../changes/author.ts";
import { required } from "../../errors/required.ts";
import type { Caller } from "../../identity/caller.ts";
import { formatScopes } from "../../identity/tokens/scopes.ts";
import type { MemberKey } from "../../iam/sign-in/sign-in-links.ts";
import type { TokenFunctions } from "../../iam/tokens/functions.ts";
import type { IssuedTokens, TokenRequest } from "../../iam/tokens/issue-token.ts";
import type { TokenHolder } from "../../iam/tokens/revoke-token.ts";
import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import { answerJson } from "../../http/plain-error.ts";
import { requireMethod } from "./require-method.ts";
import { closeAfterEarlyAnswer } from "../../http/listener/close-after-early-answer.ts";
import type { RequestPace } from "../../http/request-pace.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { invalidClient } from "./authenticate-client.ts";
import { type ClientDependencies, createFindClients } from "./find-clients.ts";
import { describeToken } from "./describe-token.ts";
import { findApiName, readScope } from "./read-scope.ts";
import { OAuthError, errorParameters, toOAuthError } from "./oauth-error.ts";
import { type Form, readForm, requiredParameter } from "./read-form.ts";

export interface OAuthDependencies extends ClientDependencies {
  readonly tokenFunctions: TokenFunctions;
  /** Counts a request against the rate limits of a member. @throws ServiceError RATE_LIMITED */
  readonly count: (member: Pick<Caller, "memberId" | "orgId">, reads: boolean) => Promise<void>;
  /** Returns the function that checks, in a write, that a caller may still make calls. */
  readonly confirmOf: (caller: Caller) => Author["confirm"];
  readonly issuer: () => string;
  readonly logger: Logger;
}

export const oauthPaths = {
  token: "/oauth2/token",
  authorize: "/oauth2/authorize",
  decide: "/oauth2/authorize/decision",
  introspect: "/oauth2/introspect",
  revoke: "/oauth2/revoke",
} as const;

/** Answers a request, or returns undefined if it is for another path. */
export type AnswerOAuth = (
  request: HttpRequest,
  response: HttpResponse,
  pace: RequestPace,
) => Promise<void> | undefined;

/** Responses have secrets, or depend on them. */
const uncached = { "Cache-Control": "no-store", Pragma: "no-cache" };

/** @param clientAddress as it was when the request came: the client may be gone when its form was read. */
type Endpoint = (request: HttpRequest, form: Form, clientAddress: string | null) => Promise<object>;

const maxLifeSeconds = 43_200;

const projectNotHere = "a code cannot be exchanged for a token of one project: refresh with the parameter project";

export function createOAuthEndpoints(dependencies: OAuthDependencies): AnswerOAuth {
  const { tokenFunctions, count, addressOf, originOf, confirmOf, issuer, logger } = dependencies;
  const { issueToken, startSession, refreshSession, introspectToken, revokeToken, redeemCode } = tokenFunctions;

  const { findRegistered, findClient, signedIn } = createFindClients(dependencies);

  // What an impersonator does counts as its own calls.
  const countCall = (caller: Caller, reads: boolean): Promise<void> => count(impersonatorOf(caller) ?? caller, reads);

  const requireClient = async (request: HttpRequest, form: Form, reads: boolean): Promise<Caller> => {
    const caller = await findClient(request, form);
    if (caller === undefined) throw invalidClient("the client must authenticate with an API key");
    await countCall(caller, reads);
    return caller;
  };

  const grants: Readonly<Record<string, Endpoint>> = {
    async client_credentials(request, form) {
      const caller = await requireClient(request, form, false);
      const { isOffline, ...wanted } = readTokenRequest(form);
      if (!isOffline) return describeIssued(await signedIn(request, caller.orgId, () => issueToken(caller, wanted)));
      const { memberId, orgId, credentialExpireTime, grantsUntil } = caller;
      const author: Author = {
        actorId: memberId,
        actorOrgId: orgId,
        credentialExpireTime,
        grantsUntil,
        method: oauthPaths.token.slice(1),
        origin: originOf(request, caller.credentialId),
        confirm: confirmOf(caller),
      };
      return describeIssued(await signedIn(request, caller.orgId, () => startSession(caller, wanted, author, false)));
    },

    async authorization_code(request, form) {
      if (form.has("project")) throw new OAuthError("invalid_request", projectNotHere);
      const client = await findRegistered(request, form);
      if (client === undefined)
        throw invalidClient("the client must name itself with the client_id of a registered client");
      const wanted = {
        client,
        code: requiredParameter(form, "code"),
        redirectUri: requiredParameter(form, "redirect_uri"),
        verifier: requiredParameter(form, "code_verifier"),
        lifeSeconds: readLifetime(form),
      };
      const authorOf = ({ memberId, orgId }: MemberKey): Author => ({
        actorId: memberId,
        actorOrgId: orgId,
        credentialExpireTime: null,
        grantsUntil: null,
        method: oauthPaths.token.slice(1),
        origin: originOf(request, ""),
        confirm: () => Promise.resolve(undefined),
      });
      const redeem = () => redeemCode(wanted, authorOf, (member) => count(member, false));
      return describeIssued(await signedIn(request, client.org_id, redeem));
    },

    async refresh_token(request, form, clientAddress) {
      const text = requiredParameter(form, "refresh_token");
      const client = await findRegistered(request, form);
      const countRefresh = (member: Pick<Caller, "memberId" | "orgId">) => count(member, false);
      // A session that is refreshed has `offline_access` already; many clients repeat all scopes of their first request.
      const origin = { clientAddress, userAgent: request.headers["user-agent"] ?? null };
      const wanted = { ...readTokenRequest(form), ...origin, client: client?.id };
      return describeIssued(await refreshSession(text, wanted, countRefresh, false));
    },
  };

  const endpoints: Readonly<Record<string, Endpoint>> = {
    [oauthPaths.token](request, form, clientAddress) {
      return required(grants[readGrantType(form, Object.keys(grants))])(request, form, clientAddress);
    },

    async [oauthPaths.introspect](request, form) {
      const caller = await requireClient(request, form, true);
      return describeToken(await introspectToken(caller, requiredParameter(form, "token")), issuer());
    },

    async [oauthPaths.revoke](request, form) {
      // Any holder of a token may revoke it, but a client that names itself must authenticate.
      const registered = await findRegistered(request, form);
      const caller = registered === undefined ? await findClient(request, form) : undefined;
      if (caller !== undefined) await countCall(caller, false);
      const authorOf = (token: TokenHolder): Author => ({
        actorId: caller?.memberId ?? token.memberId,
        actorOrgId: caller?.orgId ?? token.orgId,
        credentialExpireTime: null,
        grantsUntil: null,
        narrowing: impersonation(caller ?? token),
        method: oauthPaths.revoke.slice(1),
        origin: originOf(request, caller?.credentialId ?? token.sessionId),
        confirm: () => Promise.resolve(undefined),
      });
      await revokeToken(requiredParameter(form, "token"), authorOf, false);
      return {};
    },
  };

  const answer = async (endpoint: Endpoint, ...[request, response, pace]: Parameters<AnswerOAuth>): Promise<void> => {
    closeAfterEarlyAnswer(request, response);
    try {
      requireMethod(request, ["POST"]);
      const clientAddress = addressOf(request);
      const answered = await endpoint(request, await readForm(request), clientAddress);
      pace.markKnown();
      answerJson(response, 200, JSON.stringify(answered), uncached);
    } catch (thrown) {
      const error = toOAuthError(thrown);
      const { status, headers } = error;
      if (status === 500) logger.error({ err: thrown }, "an OAuth request failed");
      if (response.destroyed || response.headersSent) return;
      answerJson(response, status, JSON.stringify(errorParameters(error)), { ...uncached, ...headers });
    }
  };

  return (request, response, pace) => {
    const path = requestPathOf(request.url ?? "");
    const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
    return endpoint && answer(endpoint, request, response, pace);
  };
}

/** Returns the narrowing that names the impersonator of a caller, or of a token's member; undefined for none. */
function impersonation({ impersonator }: Partial<Pick<TokenHolder, "impersonator">>): Author["narrowing"] {
  return impersonator && { scopes: undefined, projectId: undefined, impersonatorId: impersonator.memberId };
}

function describeIssued({ text, token, refreshToken }: IssuedTokens) {
  return {
    access_token: text,
    token_type: "Bearer",
    scope: formatScopes(token.scopes),
    expires_in: (token.expireTime - token.issueTime) / 1_000,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}

/** @throws OAuthError also for names of the API, so that nobody gets more than it asked for. */
function readGrantType(form: Form, known: readonly string[]): string {
  const misnamed = findApiName(form);
  if (misnamed !== undefined) throw new OAuthError("invalid_request", misnamed);
  const type = requiredParameter(form, "grant_type");
  if (known.includes(type)) return type;
  throw new OAuthError("unsupported_grant_type", `the grant_type must be one of ${known.join(", ")}`);
}

/** Returns what a request asks of its access token, and whether it asks for a session. @throws OAuthError */
function readTokenRequest(form: Form): TokenRequest & { readonly isOffline: boolean } {
  const { scopes, isOffline } = readScope(form.get("scope"));
  return { lifeSeconds: readLifetime(form), scopes, projectPath: form.get("project") ?? "", isOffline };
}

/** Reads how long the token lives; undefined for the default. OAuth has no parameter for it. */
function readLifetime(form: Form): number | undefined {
  const text = form.get("lifetime");
  if (text === undefined) return undefined;
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= maxLifeSeconds) return seconds;
  throw new OAuthError("invalid_request", `lifetime must be a whole number of seconds from 1 to ${maxLifeSeconds}`);
}
