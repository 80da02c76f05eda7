import { ServiceError } from "../errors/service-error.ts";
import type { Database } from "../database/database.ts";
import { containsAddress } from "./address-prefix.ts";
import type { RecentOrgs } from "./recent-orgs.ts";
import type { Caller } from "./caller.ts";
import { createCallerLookup } from "./caller-lookup.ts";

/**
 * Identifies the caller from the `Authorization` header (RFC 6750).
 *
 * @param clientAddress the IP address of the client; null if it is not known.
 * @throws ServiceError TOKEN_MISSING, TOKEN_INVALID, or ADDRESS_NOT_ALLOWED when the credential is not for this address.
 */
export type Authenticate = (authorization: string | null, clientAddress: string | null) => Promise<Caller>;

/**
 * Returns the caller that a token authenticates; undefined for a text that is no token of this service.
 *
 * @throws ServiceError TOKEN_INVALID when the token has ended.
 */
export type AuthenticateToken = (text: string) => Promise<Caller | undefined>;

interface AuthenticateOptions {
  readonly database: Database;
  readonly authenticateToken: AuthenticateToken;
  readonly recentOrgs: RecentOrgs;
  /** Called for each API key that is accepted. */
  readonly onUse: (caller: Caller) => void;
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { authenticateToken, onUse } = options;
  const findCaller = createCallerLookup(options);
  return async (authorization, clientAddress) => {
    const token = readBearerToken(authorization);
    const ofToken = isTokenLike(token) ? await authenticateToken(token) : undefined;
    if (ofToken !== undefined) {
      requireAllowed(ofToken.allowedAddresses, clientAddress);
      return ofToken;
    }
    const caller = await findCaller(token);
    // The same error for every key that is not valid, so that it reveals nothing about those that are.
    if (caller === "invalid") {
      throw new ServiceError(
        "TOKEN_INVALID",
        "the bearer token is not valid: it is mistyped, is of another issuer, has expired, or was deleted or revoked",
      );
    }
    if (caller === "expired") throw new ServiceError("TOKEN_INVALID", "the API key has expired");
    requireAllowed(caller.allowedAddresses, clientAddress);
    onUse(caller);
    return caller;
  };
}

/**
 * Checks that a credential is accepted from the address of the client.
 *
 * @param allowed prefixes; undefined for all addresses.
 * @throws ServiceError ADDRESS_NOT_ALLOWED
 */
export function requireAllowed(allowed: readonly string[] | undefined, clientAddress: string | null): void {
  if (allowed === undefined || containsAddress(allowed, clientAddress)) return;
  const address = clientAddress ?? "unknown";
  const message = `the API key or token of the call is not accepted from the address ${address}`;
  throw new ServiceError("ADDRESS_NOT_ALLOWED", message, { metadata: { address } });
}

/** API keys contain no dots. */
function isTokenLike(text: string): boolean {
  return text.includes(".");
}

const usualStart = "Bearer ";

function readBearerToken(authorization: string | null): string {
  if (authorization === null) {
    throw new ServiceError(
      "TOKEN_MISSING",
      "the request has no credentials: send Authorization: Bearer <API key or access token>",
    );
  }
  // Nearly all clients write it so.
  const usual = authorization.startsWith(usualStart) ? authorization.slice(usualStart.length) : "";
  if (usual !== "" && !usual.includes(" ")) return usual;
  const [scheme = "", token = "", ...rest] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== "bearer" || token === "" || rest.length > 0) {
    throw new ServiceError(
      "TOKEN_INVALID",
      "the Authorization header must have the form: Bearer <API key or access token>",
    );
  }
  return token;
}
