// Reads the requests of clients for a code (RFC 6749, 4.1.1, with RFC 7636 as OAuth 2.1 requires it). What is wrong with the
// client or the redirect URI is shown to the person. Everything else is reported to the client.
import { type RegisteredClient, isRegisteredId } from "../../iam/clients/registered-client.ts";
import { isRegisteredUri } from "../../iam/clients/redirect-uri.ts";
import { areWithin } from "../../access/engine/decisions/narrowing.ts";
import { everything, findScopeProblem } from "../../identity/tokens/scopes.ts";
import { OAuthError, type OAuthErrorCode } from "../oauth/oauth-error.ts";

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
  readonly prompts: readonly string[];
}

export class AuthorizationError extends OAuthError {
  readonly replyTo: ReplyTo;

  constructor(replyTo: ReplyTo, error: OAuthErrorCode, description: string) {
    super(error, description);
    this.replyTo = replyTo;
  }
}

const offline = "offline_access";

/**
 * @param query the parameters, as in a URL.
 * @throws OAuthError, AuthorizationError
 */
export async function readAuthorization(
  find: (id: string) => Promise<RegisteredClient | undefined>,
  query: URLSearchParams,
): Promise<Authorization> {
  const replyTo = await readReplyTo(find, query);
  const fail = (error: OAuthErrorCode, description: string): never => {
    throw new AuthorizationError(replyTo, error, description);
  };
  const repeated = [...query.keys()].find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) fail("invalid_request", `the parameter ${repeated.slice(0, 64)} is given twice`);
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
  const prompts = wordsOf(query.get("prompt"));
  const unknown = prompts.find((each) => !["none", "login", "select_account", "consent"].includes(each));
  if (unknown !== undefined) fail("invalid_request", "the prompt must be none, login, select_account or consent");
  if (prompts.includes("none") && prompts.length > 1) fail("invalid_request", "the prompt none must stand alone");
  const words = wordsOf(query.get("scope"));
  const asked = words.filter((scope) => scope !== offline);
  const problem = findScopeProblem(asked);
  if (problem !== undefined) fail("invalid_scope", `scope ${problem}`);
  const { client } = replyTo;
  const scopes = asked.length === 0 ? client.scopes : asked.includes(everything) ? null : asked;
  if (client.scopes !== null && !areWithin(scopes ?? undefined, client.scopes)) {
    fail("invalid_scope", `scope must be within what the client may ask for: ${client.scopes.join(" ")}`);
  }
  return { ...replyTo, codeChallenge, scopes, isOffline: words.includes(offline), prompts };
}

async function readReplyTo(
  find: (id: string) => Promise<RegisteredClient | undefined>,
  query: URLSearchParams,
): Promise<ReplyTo> {
  const id = readOnce(query, "client_id");
  const client = isRegisteredId(id) ? await find(id) : undefined;
  if (client === undefined) throw new OAuthError("invalid_request", "the client that sent you here is not registered");
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

const wordsOf = (text: string | null): string[] => (text ?? "").split(" ").filter((word) => word !== "");

/** Returns the address with which a browser brings a client its answer. `iss` says who answers (RFC 9207). */
export function formatReply(
  { redirectUri, state }: ReplyTo,
  issuer: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const all = { ...parameters, ...(state !== undefined && { state }), iss: issuer };
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${new URLSearchParams(all).toString()}`;
}
