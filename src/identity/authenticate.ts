import { sql } from "kysely";
import type { OrgHead } from "../changes/revision.ts";
import { type Lookup, createBatcher } from "../database/batch.ts";
import type { Database } from "../database/database.ts";
import { ServiceError } from "../errors/service-error.ts";
import { containsAddress } from "./address-prefix.ts";
import { hashApiKey, isSameHash, parseApiKey } from "./api-key.ts";
import type { AskedOrgs } from "./asked-orgs.ts";
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
  /** The heads of the orgs that are likely to be asked about, from the same statement. */
  readonly asked: readonly OrgHead[];
}

/** A row for each of these orgs, or one without. */
interface KeyRow extends Omit<FoundKey, "readAt" | "asked"> {
  readonly asked_id: string | null;
  readonly asked_name: string;
  readonly asked_customer_id: string;
  readonly asked_state: OrgHead["state"];
  readonly asked_delete_time: Date | null;
  readonly asked_revision: string;
}

/**
 * Returns the caller that a token authenticates; undefined for a text that is no token of this service.
 *
 * @throws ServiceError TOKEN_INVALID when the token has ended.
 */
export type AuthenticateToken = (text: string) => Promise<Caller | undefined>;

interface AuthenticateOptions {
  readonly database: Database;
  readonly authenticateToken: AuthenticateToken;
  readonly askedOrgs: AskedOrgs;
  /** Called for each API key that is accepted. */
  readonly onUse: (caller: Caller) => void;
}

/** Creates the function that authenticates calls. */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { authenticateToken, onUse } = options;
  const findKey = createKeyLookup(options);
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
      askedHeads: key.asked,
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

function createKeyLookup({
  database,
  askedOrgs,
}: Pick<AuthenticateOptions, "database" | "askedOrgs">): Lookup<string, FoundKey | undefined> {
  const { sql: text } = sql`
    select api_keys.prefix, api_keys.id, api_keys.org_id, api_keys.member_id, api_keys.hash,
      api_keys.expire_time, coalesce(api_keys.expire_time <= now(), false) as expired,
      (${isActiveMember}) as active, api_keys.grants_until, api_keys.scopes, api_keys.allowed_addresses,
      orgs.revision as org_revision, (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      asked.id as asked_id, asked.name as asked_name, asked.customer_id as asked_customer_id,
      asked.state as asked_state, asked.delete_time as asked_delete_time, asked.revision as asked_revision
    from api_keys
    join members on members.org_id = api_keys.org_id and members.id = api_keys.member_id
    join orgs on orgs.id = api_keys.org_id
    left join orgs as asked on asked.id = any (${null}::uuid[])
    where api_keys.prefix = any (${null}::text[])`.compile(database.reads);
  return createBatcher(async (prefixes) => {
    // Many calls use the same key, which is read once for all of them.
    const distinct = [...new Set(prefixes)];
    // Of several keys, those of each would be read for all.
    const [only = "", other] = distinct;
    const asked = other === undefined ? askedOrgs.of(only) : [];
    const readAt = performance.now();
    const rows = await database.readPrepared<KeyRow>("find_api_keys", text, [asked, distinct]);
    const byPrefix = Map.groupBy(rows, ({ prefix }) => prefix);
    return prefixes.map((prefix) => {
      const found = byPrefix.get(prefix);
      return found?.[0] && { ...found[0], readAt, asked: found.flatMap((row) => askedOf(row, readAt)) };
    });
  });
}

function askedOf(row: KeyRow, readAt: number): OrgHead[] {
  const { asked_id: id, now } = row;
  if (id === null) return [];
  return [
    {
      id,
      name: row.asked_name,
      customer_id: row.asked_customer_id,
      state: row.asked_state,
      delete_time: row.asked_delete_time,
      revision: row.asked_revision,
      readAt,
      now,
    },
  ];
}
