import { type Concerned, ServiceError } from "../errors/service-error.ts";
import { containsAddress } from "./address-prefix.ts";
import type { Caller } from "./caller.ts";
import type { CallerLookup } from "./caller-lookup.ts";

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

export interface AuthenticateOptions {
  readonly authenticateToken: AuthenticateToken;
  /** Finds the callers of API keys. */
  readonly findCaller: CallerLookup;
  /** Called for each API key that is accepted. */
  readonly onUse: (caller: Caller) => void;
}

export function createAuthenticate({ authenticateToken, findCaller, onUse }: AuthenticateOptions): Authenticate {
  return async (authorization, clientAddress) => {
    const token = readBearerToken(authorization);
    const ofToken = isTokenLike(token) ? await authenticateToken(token) : undefined;
    if (ofToken !== undefined) {
      requireAllowed(ofToken.allowedAddresses, clientAddress, concernedOf(ofToken));
      return ofToken;
    }
    const caller = await findCaller(token);
    // The same error for every key that is not valid, so that it reveals nothing about those that are.
    if (caller === "invalid") throw new ServiceError("TOKEN_INVALID", notValid);
    if ("refusal" in caller) {
      const message = caller.refusal === "expired" ? "the API key has expired" : notValid;
      throw new ServiceError("TOKEN_INVALID", message, { concerns: concernedOf(caller) });
    }
    requireAllowed(caller.allowedAddresses, clientAddress, concernedOf(caller));
    onUse(caller);
    return caller;
  };
}

const notValid =
  "the bearer token is not valid: it is mistyped, is of another issuer, has expired, or was deleted or revoked";

function concernedOf({
  orgId,
  memberId,
  credentialId,
}: Pick<Caller, "orgId" | "memberId" | "credentialId">): Concerned {
  return { orgId, member: { memberId, credentialId } };
}

/**
 * Checks that a credential is accepted from the address of the client.
 *
 * @param allowed prefixes; undefined for all addresses.
 * @param concerns whose credential it is, if that is to be in the log of its org.
 * @throws ServiceError ADDRESS_NOT_ALLOWED
 */
export function requireAllowed(
  allowed: readonly string[] | undefined,
  clientAddress: string | null,
  concerns?: Concerned,
): void {
  if (allowed === undefined || containsAddress(allowed, clientAddress)) return;
  const address = clientAddress ?? "unknown";
  const message = `the API key or token of the call is not accepted from the address ${address}`;
  throw new ServiceError("ADDRESS_NOT_ALLOWED", message, { metadata: { address }, concerns });
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
