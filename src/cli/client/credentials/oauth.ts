// What the command line asks of the OAuth endpoints of the service. They are found below its address, and not where its metadata says, so
// that tokens go nowhere else.
import { CommandError, exitCodes } from "../command-error.ts";
import { readBody } from "../http/read-body.ts";
import { fetchFrom } from "../http/service.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { isSameOrigin } from "../http/service-url.ts";
import type { Secret } from "./profiles.ts";

const timeoutMs = 30_000;

/** What the service says of itself (RFC 8414). */
export interface ServerMetadata {
  readonly issuer: string;
  /** The client id of the command line; undefined if the installation has none, or has deleted it. */
  readonly clientId: string | undefined;
}

/**
 * Asks a service what it says of itself.
 *
 * @throws CommandError if its issuer is another service (RFC 8414, 3.3): it would get the codes of that one.
 */
export async function readMetadata(url: string, signal: AbortSignal): Promise<ServerMetadata> {
  const json = await send(`${url}/.well-known/oauth-authorization-server`, undefined, signal);
  const issuer = stringOf(json["issuer"]);
  if (issuer === undefined || !URL.canParse(issuer))
    throw new CommandError(`${url} is no Tenantry`, { exitCode: exitCodes.refused, reason: "NOT_TENANTRY" });
  if (!isSameOrigin(issuer, url)) {
    const { origin } = new URL(issuer);
    throw new CommandError(`${url} says that it is ${origin}`, {
      exitCode: exitCodes.denied,
      reason: "OTHER_ISSUER",
      // A name may have characters that a shell obeys.
      next: /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? `tenantry login --server ${origin}` : undefined,
    });
  }
  return { issuer, clientId: stringOf(json["tenantry_command_line_client_id"]) };
}

/**
 * Gets tokens for a code or a refresh token.
 *
 * @param now the clock, in milliseconds.
 * @param signal left out, the call goes on when the command is interrupted: a refresh token has a successor then, which must be kept.
 * @throws CommandError with the reason `invalid_grant` if the service no longer accepts it.
 */
export async function requestTokens(
  url: string,
  clientId: string,
  grant: Readonly<Record<string, string>>,
  { signal, now }: { readonly signal?: AbortSignal; readonly now: () => number },
): Promise<Secret> {
  const sentAt = now();
  const json = await send(`${url}/oauth2/token`, { client_id: clientId, ...grant }, signal);
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = json;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string" || typeof seconds !== "number") {
    throw new CommandError(`${url} gives no tokens`, { exitCode: exitCodes.refused, reason: "NOT_TENANTRY" });
  }
  return { accessToken, refreshToken, clientId, expireTime: sentAt + seconds * 1_000 };
}

/** Ends the session of a refresh token. */
export async function revokeSession(
  url: string,
  { clientId, refreshToken }: { readonly clientId: string; readonly refreshToken: string },
  signal: AbortSignal,
): Promise<void> {
  await send(`${url}/oauth2/revoke`, { client_id: clientId, token: refreshToken }, signal);
}

async function send(
  address: string,
  form: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetchFrom(address, {
    headers: { accept: "application/json" },
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  const text = await readBody(response);
  const json = parseObject(text);
  if (response.ok && json !== undefined) return json;
  const reason = stringOf(json?.["error"]) ?? "NOT_TENANTRY";
  const message = stringOf(json?.["error_description"]) ?? `${new URL(address).origin} answers ${response.status}`;
  const isBusy = response.status === 429 || response.status === 503;
  throw new CommandError(message, { exitCode: isBusy ? exitCodes.tryAgain : exitCodes.denied, reason });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
