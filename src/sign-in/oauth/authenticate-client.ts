import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError } from "./oauth-error.ts";
import type { Form } from "./read-form.ts";

interface ClientCredentials {
  /** Undefined if the request does not name the client. */
  readonly id: string | undefined;
  readonly secret: string;
}

/**
 * Authenticates the client of a request: with its API key as the password of Basic authentication or as `client_secret`, or
 * with a bearer token. Its id, if given, must be the prefix of the key.
 *
 * @returns undefined if the request has no credentials.
 * @throws OAuthError invalid_client, ServiceError TOKEN_INVALID, ADDRESS_NOT_ALLOWED
 */
export async function authenticateClient(
  authenticate: (authorization: string) => Promise<Caller>,
  request: HttpRequest,
  form: Form,
): Promise<Caller | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    if (form.has("client_secret")) throw invalidClient("the client must authenticate in one way only");
    return authenticate(authorization);
  }
  const credentials = readCredentials(authorization, form);
  if (credentials === undefined) return undefined;
  const caller = await authenticateSecret(authenticate, credentials.secret);
  if (caller.token !== undefined) throw invalidClient("the client secret must be an API key");
  if (credentials.id !== undefined && credentials.id !== caller.clientId) {
    throw invalidClient("the client id must be the prefix of the API key, or be left out");
  }
  return caller;
}

async function authenticateSecret(
  authenticate: (authorization: string) => Promise<Caller>,
  secret: string,
): Promise<Caller> {
  try {
    return await authenticate(`Bearer ${secret}`);
  } catch (thrown) {
    if (!(thrown instanceof ServiceError) || thrown.reason !== "TOKEN_INVALID") throw thrown;
    throw invalidClient(
      "the client secret is no valid API key: it is mistyped, has expired, or was deleted or revoked",
    );
  }
}

export function readCredentials(authorization: string | undefined, form: Form): ClientCredentials | undefined {
  const secret = form.get("client_secret");
  if (authorization === undefined) return secret === undefined ? undefined : { id: form.get("client_id"), secret };
  if (secret !== undefined) throw invalidClient("the client must authenticate in one way only");
  const [, encoded = ""] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization.trim()) ?? [];
  const text = Buffer.from(encoded, "base64").toString();
  const colon = text.indexOf(":");
  if (colon === -1) throw invalidClient("the Authorization header must have the form: Basic <client id:API key>");
  const [id, password] = [decode(text.slice(0, colon)), decode(text.slice(colon + 1))];
  if (/\s/.test(password) || password === "") throw invalidClient("the client secret must be an API key");
  return { id: id === "" ? undefined : id, secret: password };
}

/** Both parts are form-encoded (RFC 6749, 2.3.1). */
function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch {
    throw invalidClient("the Authorization header is not encoded correctly");
  }
}

export function invalidClient(description: string): OAuthError {
  return new OAuthError("invalid_client", description, { "WWW-Authenticate": 'Basic realm="tenantry"' });
}
