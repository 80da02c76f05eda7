import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type Lookup, createBatcher } from "../database/batch.ts";
import type { Database } from "../database/database.ts";
import { ServiceError } from "../errors/service-error.ts";
import { containsAddress } from "./address-prefix.ts";
import { hashApiKey, isSameHash, parseApiKey } from "./api-key.ts";
import type { Caller } from "./caller.ts";

/**
 * Identifies the caller from the `Authorization` header (RFC 6750).
 *
 * @param clientAddress the IP address of the client; null if it is not known.
 * @throws ServiceError TOKEN_MISSING, TOKEN_INVALID, or ADDRESS_NOT_ALLOWED when the credential is not for this address.
 */
export type Authenticate = (authorization: string | null, clientAddress: string | null) => Promise<Caller>;

/** Whether a member is active, in an org that is not deleted. The access decision handles suspended orgs. */
export const isActiveMember = sql<boolean>`
  members.state = 'ACTIVE' and members.delete_time is null and orgs.delete_time is null`;

interface FoundKey {
  readonly prefix: string;
  readonly id: string;
  readonly org_id: string;
  readonly member_id: string;
  readonly hash: Buffer;
  readonly expire_time: Date | null;
  readonly expired: boolean;
  readonly active: boolean;
  readonly grants_until: string | null;
  readonly scopes: readonly string[] | null;
  readonly allowed_addresses: readonly string[] | null;
  readonly org_revision: string;
  readonly now: number;
  /** When the read started, by this process's own clock. */
  readonly readAt: number;
}

/**
 * Returns the caller that a token authenticates; undefined for a text that is no token of this service.
 *
 * @throws ServiceError TOKEN_INVALID when the token has ended.
 */
export type AuthenticateToken = (text: string) => Promise<Caller | undefined>;

/**
 * Creates the function that authenticates calls.
 *
 * @param onUse called for each API key that is accepted.
 */
export function createAuthenticate(
  database: Database,
  authenticateToken: AuthenticateToken,
  onUse: (caller: Caller) => void,
): Authenticate {
  const findKey = createKeyLookup(database);
  return async (authorization, clientAddress) => {
    const token = readBearerToken(authorization);
    const ofToken = isTokenLike(token) ? await authenticateToken(token) : undefined;
    if (ofToken !== undefined) {
      requireAllowed(ofToken.allowedAddresses, clientAddress);
      return ofToken;
    }
    const prefix = parseApiKey(token);
    const key = prefix === undefined ? undefined : await findKey(prefix);
    // The same error for every key that is not valid, so that it reveals nothing about those that are.
    if (key === undefined || !isSameHash(key.hash, hashApiKey(token)) || !key.active) {
      throw new ServiceError(
        "TOKEN_INVALID",
        "the bearer token is not valid: it is mistyped, has expired, or was deleted or revoked",
      );
    }
    if (key.expired) throw new ServiceError("TOKEN_INVALID", "the API key has expired");
    const caller: Caller = {
      memberId: key.member_id,
      orgId: key.org_id,
      credentialId: key.id,
      credentialExpireTime: key.expire_time,
      grantsUntil: key.grants_until,
      clientId: key.prefix,
      scopes: key.scopes ?? undefined,
      projectId: undefined,
      allowedAddresses: key.allowed_addresses ?? undefined,
      impersonator: undefined,
      token: undefined,
      orgHead: { revision: key.org_revision, readAt: key.readAt },
      time: key.now,
    };
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

function readBearerToken(authorization: string | null): string {
  if (authorization === null) {
    throw new ServiceError(
      "TOKEN_MISSING",
      "the request has no credentials: send Authorization: Bearer <API key or access token>",
    );
  }
  const [scheme = "", token = "", ...rest] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== "bearer" || token === "" || rest.length > 0) {
    throw new ServiceError(
      "TOKEN_INVALID",
      "the Authorization header must have the form: Bearer <API key or access token>",
    );
  }
  return token;
}

function createKeyLookup(database: Database): Lookup<string, FoundKey | undefined> {
  const textOf = (condition: RawBuilder<SqlBool>): string =>
    sql`
    select api_keys.prefix, api_keys.id, api_keys.org_id, api_keys.member_id, api_keys.hash,
      api_keys.expire_time, coalesce(api_keys.expire_time <= now(), false) as expired,
      (${isActiveMember}) as active, api_keys.grants_until, api_keys.scopes, api_keys.allowed_addresses,
      orgs.revision as org_revision, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
    from api_keys
    join members on members.org_id = api_keys.org_id and members.id = api_keys.member_id
    join orgs on orgs.id = api_keys.org_id
    where ${condition}`.compile(database.reads).sql;
  // PostgreSQL plans a prepared statement with an array each time, because it expects several elements. Most reads are of one key.
  const ofOne = textOf(sql`api_keys.prefix = ${null}::text`);
  const ofSeveral = textOf(sql`api_keys.prefix = any (${null}::text[])`);
  return createBatcher(async (prefixes) => {
    // Many calls use the same key, which is read once for all of them.
    const distinct = [...new Set(prefixes)];
    const readAt = performance.now();
    const found = await (distinct.length === 1
      ? database.readPrepared<Omit<FoundKey, "readAt">>("find_api_key", ofOne, distinct)
      : database.readPrepared<Omit<FoundKey, "readAt">>("find_api_keys", ofSeveral, [distinct]));
    const byPrefix = new Map(found.map((key) => [key.prefix, { ...key, readAt }]));
    return prefixes.map((prefix) => byPrefix.get(prefix));
  });
}
