// Reads the requests of clients for a code (RFC 6749, 4.1.1, with RFC 7636 as OAuth 2.1 requires it). What is wrong with the
// client or the redirect URI is shown to the person. Everything else is reported to the client, once the person has signed in.
import { type RegisteredClient, isRegisteredId } from "../../iam/clients/registered-client.ts";
import { isRegisteredUri } from "../../iam/clients/redirect-uri.ts";
import { areWithin } from "../../access/engine/decisions/narrowing.ts";
import { findTokenScopeProblem } from "../../iam/roles/find-scope-problem.ts";
import type { BrowserSession } from "../../iam/sign-in/browser-sessions.ts";
import { everything } from "../../identity/tokens/scopes.ts";
import { OAuthError, type OAuthErrorCode } from "../oauth/oauth-error.ts";
import { findApiName, readScope, wordsOf } from "../oauth/read-scope.ts";

/** Where the answer to a request goes. */
export interface ReplyTo {
  readonly client: RegisteredClient;
  readonly redirectUri: string;
  /** Undefined if the request has none. */
  readonly state: string | undefined;
}

export interface Authorization extends ReplyTo {
  readonly codeChallenge: string;
  /** The scopes that it asks for; null for all. */
  readonly scopes: readonly string[] | null;
  /** Whether it asks for a refresh token. */
  readonly isOffline: boolean;
  /** Whether the person must sign in for this request, whatever sign-in the browser has. */
  readonly needsNewLogin: boolean;
  /** How long ago the person may have signed in, in seconds; undefined for any time. */
  readonly maxAgeSeconds: number | undefined;
  /** When the person was asked to sign in for this request, in milliseconds of the database's clock; undefined before. */
  readonly loginAskedTime: number | undefined;
}

/** The parameter of this service in requests that come back from the sign-in: when it was asked for. */
export const askedParameter = "login_asked";

/** An error that is sent to the client. */
export class AuthorizationError extends OAuthError {
  readonly replyTo: ReplyTo;

  constructor(replyTo: ReplyTo, error: OAuthErrorCode, description: string) {
    super(error, description);
    this.replyTo = replyTo;
  }
}

/** Returns the parameters of a request. Those without a value count as absent (RFC 6749, 3.1). */
export function givenParameters(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([, value]) => value !== ""));
}

/** Reports whether a request asks that the person sees no page (OpenID Connect Core, 3.1.2.1). */
export const isSilent = (query: URLSearchParams): boolean => wordsOf(query.get("prompt")).includes("none");

/**
 * Reads what a request asks for.
 *
 * @param query its parameters, of which each has a value.
 * @param known all permissions of this service.
 * @throws AuthorizationError
 */
export function readAuthorization(replyTo: ReplyTo, query: URLSearchParams, known: readonly string[]): Authorization {
  const fail = (error: OAuthErrorCode, description: string): never => {
    throw new AuthorizationError(replyTo, error, description);
  };
  const repeated = [...query.keys()].find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) fail("invalid_request", `the parameter ${repeated.slice(0, 64)} is given twice`);
  const misnamed = findApiName(query);
  if (misnamed !== undefined) fail("invalid_request", misnamed);
  if (query.has("request")) fail("request_not_supported", "request objects are not supported");
  if (query.has("request_uri")) fail("request_uri_not_supported", "request objects are not supported");
  const type = query.get("response_type");
  if (type === null) fail("invalid_request", "the parameter response_type is required");
  if (type !== "code") fail("unsupported_response_type", "the response_type must be code");
  if ((query.get("response_mode") ?? "query") !== "query") fail("invalid_request", "the response_mode must be query");
  const codeChallenge = query.get("code_challenge") ?? "";
  if (query.get("code_challenge_method") !== "S256") fail("invalid_request", "the code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(codeChallenge)) {
    fail("invalid_request", "the code_challenge must be the SHA-256 of a code_verifier, in base64url");
  }
  const { scopes: asked, isOffline } = readScope(query.get("scope"));
  const problem = findTokenScopeProblem(asked, known);
  if (problem !== undefined) fail("invalid_scope", `scope ${problem}`);
  const { client } = replyTo;
  const scopes = asked.length === 0 ? client.scopes : asked.includes(everything) ? null : asked;
  if (client.scopes !== null && !areWithin(scopes ?? undefined, client.scopes)) {
    fail("invalid_scope", `scope must be within what the client may ask for: ${client.scopes.join(" ")}`);
  }
  return { ...replyTo, codeChallenge, scopes, isOffline, ...readLogin(query, fail) };
}

type LoginTerms = Pick<Authorization, "needsNewLogin" | "maxAgeSeconds" | "loginAskedTime">;

/** Reads when the person must sign in (OpenID Connect Core, 3.1.2.1). */
function readLogin(query: URLSearchParams, fail: (error: OAuthErrorCode, description: string) => never): LoginTerms {
  const prompts = wordsOf(query.get("prompt"));
  const unknown = prompts.find((each) => !["none", "login", "select_account", "consent"].includes(each));
  if (unknown !== undefined) fail("invalid_request", "the prompt must be none, login, select_account or consent");
  if (prompts.includes("none") && prompts.length > 1) fail("invalid_request", "the prompt none must stand alone");
  const [maxAge, asked] = [query.get("max_age"), query.get(askedParameter)];
  if (maxAge !== null && !/^\d{1,9}$/.test(maxAge)) {
    fail("invalid_request", "the max_age must be a whole number of seconds");
  }
  return {
    needsNewLogin: prompts.includes("login"),
    maxAgeSeconds: maxAge === null ? undefined : Number(maxAge),
    loginAskedTime: asked !== null && /^\d{1,15}$/.test(asked) ? Number(asked) : undefined,
  };
}

/** For how long a sign-in that a request has asked for counts for it: longer than signing in takes. */
const maxLoginMs = 1_800_000;

/**
 * Reports whether a person must sign in again for a request. A sign-in counts for the request that has asked for it, and not for the same
 * request at another time.
 */
export function mustSignIn(
  { needsNewLogin, maxAgeSeconds, loginAskedTime: asked }: LoginTerms,
  { signInTime, now }: Pick<BrowserSession, "signInTime" | "now">,
): boolean {
  const time = signInTime.getTime();
  const isForRequest = asked !== undefined && time > asked && now - asked <= maxLoginMs;
  if (isForRequest) return false;
  return needsNewLogin || (maxAgeSeconds !== undefined && now - time > maxAgeSeconds * 1_000);
}

/**
 * Reads where the answer to a request goes.
 *
 * @throws OAuthError for a client or a redirect URI that is not registered.
 */
export async function readReplyTo(
  find: (id: string) => Promise<RegisteredClient | undefined>,
  query: URLSearchParams,
): Promise<ReplyTo> {
  const id = readOnce(query, "client_id");
  const client = isRegisteredId(id) ? await find(id) : undefined;
  if (client === undefined) {
    const message = "the client that sent you here is not registered: its client_id is not the id of a client";
    throw new OAuthError("invalid_request", message);
  }
  const redirectUri = readOnce(query, "redirect_uri");
  if (!isRegisteredUri(client.redirect_uris, redirectUri)) {
    const message =
      "the client that sent you here gave an address to return to (redirect_uri) that it has not registered";
    throw new OAuthError("invalid_request", message);
  }
  return { client, redirectUri, state: query.get("state") ?? undefined };
}

function readOnce(query: URLSearchParams, name: string): string {
  const [value, ...others] = query.getAll(name);
  if (value !== undefined && others.length === 0) return value;
  throw new OAuthError("invalid_request", `the parameter ${name} must be given once`);
}

/** Returns the address with which a browser brings a client its answer. `iss` says who answers (RFC 9207). */
export function formatReply(
  { redirectUri, state }: ReplyTo,
  issuer: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const all = { ...parameters, ...(state !== undefined && { state }), iss: issuer };
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${new URLSearchParams(all).toString()}`;
}
