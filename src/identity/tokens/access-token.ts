// Access tokens: signed JWTs (RFC 9068). A token says who the caller is and how its access is narrowed. Whether it still holds
// is decided for each call, from the snapshot of the member's org.
import { SignJWT, compactVerify } from "jose";
import { v7 as uuidv7 } from "uuid";
import { formatScopes, parseScopes } from "./scopes.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** A member that acts as the one of a token. */
export interface Impersonator {
  readonly memberId: string;
  /** Its `token_gen` when the token was issued. */
  readonly gen: string | null;
  /** The token with which it asked for this one; undefined if it used an API key. */
  readonly tokenId: string | undefined;
}

/** What a token says of its caller. */
interface TokenGrant {
  readonly memberId: string;
  readonly orgId: string;
  /** The session that the token is of, or the API key that it was issued for. */
  readonly sessionId: string;
  /** The public part of the API key, or the client that signed in. */
  readonly clientId: string;
  /** The org of that client, if it is a registered one, with which the token ends; undefined for others. */
  readonly clientOrgId: string | undefined;
  /** The member's `token_gen` when the token was issued. */
  readonly gen: string | null;
  /** The permissions to which the token is narrowed; undefined for all. */
  readonly scopes: readonly string[] | undefined;
  /** The project to which the token is narrowed; undefined for none. */
  readonly projectId: string | undefined;
  /** The prefixes of the addresses from which the token is accepted; undefined for all. */
  readonly allowedAddresses: readonly string[] | undefined;
  /** The member that acts as the one of the token, with its own session or API key; undefined for none. */
  readonly impersonator: Impersonator | undefined;
  /**
   * The tokens with whose revocation this one ends: the token that was exchanged for it, and those that had been exchanged for
   * that one, the first one first. Those of the impersonator's token if there is one. Empty if it was issued for an API key or session.
   */
  readonly exchangedFrom: readonly string[];
  /** When the credential behind the token expires, in milliseconds; null if it does not. */
  readonly credentialExpireTime: number | null;
}

export interface AccessToken extends TokenGrant {
  readonly id: string;
  /** In milliseconds of the database's clock. */
  readonly issueTime: number;
  readonly expireTime: number;
}

export interface IssuedToken {
  readonly text: string;
  readonly token: AccessToken;
}

export interface AccessTokens {
  /**
   * Issues a token.
   *
   * @param now the database's clock, in milliseconds.
   * @param lifeSeconds how long the token lives at most. It ends no later than its credential.
   * @param latestExpireTime when it ends at the latest, in milliseconds.
   * @throws ServiceError SERVICE_UNAVAILABLE when there is no key to sign with.
   */
  issue(grant: TokenGrant, now: number, lifeSeconds: number, latestExpireTime?: number): Promise<IssuedToken>;
  /**
   * Returns what a token says if this service has signed it; undefined for any other text. Does not check whether the token has
   * expired or was revoked.
   */
  verify(text: string): AccessToken | undefined | Promise<AccessToken | undefined>;
}

const type = "at+jwt";

/** The longest token that is looked at, in characters. */
const maxLength = 4_096;

/** The longest life of a token. What ended is remembered for longer. */
const maxLifeSeconds = 43_200;

const maxCached = 10_000;

/** The value of `gen` before anything has ended all tokens of the member. */
const firstGen = "0";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * @param issuer the URL of the service, which is `iss` and `aud` of its tokens.
 * @param onIssue is called for each token that is issued, with the time, in milliseconds.
 */
export function createAccessTokens(
  keys: Pick<SigningKeys, "signingKey" | "find" | "has">,
  issuer: () => string,
  onIssue: (grant: TokenGrant, now: number) => void = () => {},
): AccessTokens {
  /** Verified tokens by their text, the least recently used first. A verdict about a token is never cached. */
  const cache = new Map<string, { readonly token: AccessToken; readonly keyId: string }>();

  const verifySignature = async (text: string, keyId: string): Promise<AccessToken | undefined> => {
    const key = await keys.find(keyId);
    if (key === undefined) return undefined;
    let payload: Uint8Array;
    try {
      ({ payload } = await compactVerify(text, key.key, { algorithms: [key.algorithm] }));
    } catch {
      return undefined;
    }
    const token = readClaims(parseObject(Buffer.from(payload)), issuer());
    if (token === undefined) return undefined;
    cache.set(text, { token, keyId });
    if (cache.size > maxCached) cache.delete(cache.keys().next().value as string);
    return token;
  };

  return {
    async issue(grant, now, lifeSeconds, latestExpireTime = Infinity) {
      const key = keys.signingKey();
      const issuedAt = Math.floor(now / 1_000);
      const latest = Math.min(grant.credentialExpireTime ?? Infinity, latestExpireTime);
      const expiresAt = Math.min(issuedAt + lifeSeconds, Math.floor(latest / 1_000));
      const token = { ...grant, id: uuidv7(), issueTime: issuedAt * 1_000, expireTime: expiresAt * 1_000 };
      const text = await new SignJWT(toClaims(token, issuer()))
        .setProtectedHeader({ alg: key.algorithm, typ: type, kid: key.id })
        .sign(key.key);
      onIssue(grant, now);
      return { text, token };
    },

    verify(text) {
      const cached = cache.get(text);
      if (cached !== undefined) {
        cache.delete(text);
        if (!keys.has(cached.keyId)) return undefined;
        cache.set(text, cached);
        return cached.token;
      }
      const keyId = readKeyId(text);
      return keyId === undefined ? undefined : verifySignature(text, keyId);
    },
  };
}

/**
 * Returns the key that a token names. Its header must be exactly as this service writes it, and each part must be the only
 * encoding of its bytes, so that nothing but the signature has several forms.
 */
function readKeyId(text: string): string | undefined {
  if (text.length > maxLength) return undefined;
  const parts = text.split(".");
  if (parts.length !== 3 || parts.some((part) => !isCanonical(part))) return undefined;
  const { alg, typ, kid, ...others } = parseObject(Buffer.from(parts[0] ?? "", "base64url"));
  const isOwn = typeof alg === "string" && typ === type && typeof kid === "string" && uuid.test(kid);
  return isOwn && Object.keys(others).length === 0 ? kid : undefined;
}

function isCanonical(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

function toClaims(token: AccessToken, issuer: string): Record<string, unknown> {
  const { memberId, orgId, sessionId, clientId, gen, credentialExpireTime } = token;
  return {
    iss: issuer,
    aud: issuer,
    sub: memberId,
    org: orgId,
    sid: sessionId,
    client_id: clientId,
    ...(token.clientOrgId !== undefined && { client_org: token.clientOrgId }),
    gen: gen ?? firstGen,
    scope: formatScopes(token.scopes),
    ...(token.projectId !== undefined && { project: token.projectId }),
    ...(token.allowedAddresses !== undefined && { allowed_addresses: token.allowedAddresses }),
    ...(token.impersonator !== undefined && { act: toActClaim(token.impersonator) }),
    ...(token.exchangedFrom.length > 0 && { exchanged_from: token.exchangedFrom }),
    jti: token.id,
    iat: token.issueTime / 1_000,
    exp: token.expireTime / 1_000,
    ...(credentialExpireTime !== null && { cred_exp: credentialExpireTime / 1_000 }),
  };
}

/** Returns the claim for who acts (RFC 8693, 4.1). */
function toActClaim({ memberId, gen, tokenId }: Impersonator): Record<string, string> {
  return { sub: memberId, gen: gen ?? firstGen, ...(tokenId !== undefined && { jti: tokenId }) };
}

/** Returns undefined for a claim that this service does not write. */
function readActClaim(claim: unknown): Impersonator | undefined {
  if (typeof claim !== "object" || claim === null) return undefined;
  const { sub, gen, jti } = claim as Readonly<Record<string, unknown>>;
  if (!isUuid(sub) || (gen !== firstGen && !isUuid(gen)) || (jti !== undefined && !isUuid(jti))) return undefined;
  return { memberId: sub, gen: gen === firstGen ? null : gen, tokenId: jti };
}

function readClaims(claims: Readonly<Record<string, unknown>>, issuer: string): AccessToken | undefined {
  const { iss, aud, sub, org, sid, client_id: clientId, gen, jti, iat, exp, scope, project } = claims;
  const {
    client_org: clientOrgId,
    cred_exp: credentialExpiry = null,
    allowed_addresses: allowedAddresses,
    act,
    exchanged_from: exchangedFrom = [],
  } = claims;
  const impersonator = readActClaim(act);
  if (iss !== issuer || aud !== issuer) return undefined;
  if (!isUuid(sub) || !isUuid(org) || !isUuid(sid) || !isUuid(jti) || typeof clientId !== "string") return undefined;
  if (clientOrgId !== undefined && (!isUuid(clientOrgId) || !isUuid(clientId))) return undefined;
  if (gen !== firstGen && !isUuid(gen)) return undefined;
  if (typeof scope !== "string" || (project !== undefined && !isUuid(project))) return undefined;
  if (allowedAddresses !== undefined && !isTextList(allowedAddresses)) return undefined;
  if (act !== undefined && impersonator === undefined) return undefined;
  if (!isUuidList(exchangedFrom)) return undefined;
  if (!isTime(iat) || !isTime(exp) || exp <= iat || exp - iat > maxLifeSeconds) return undefined;
  if (credentialExpiry !== null && !isTime(credentialExpiry)) return undefined;
  return {
    id: jti,
    memberId: sub,
    orgId: org,
    sessionId: sid,
    clientId,
    clientOrgId,
    gen: gen === firstGen ? null : gen,
    scopes: parseScopes(scope),
    projectId: project,
    allowedAddresses,
    impersonator,
    exchangedFrom,
    issueTime: iat * 1_000,
    expireTime: exp * 1_000,
    credentialExpireTime: credentialExpiry === null ? null : credentialExpiry * 1_000,
  };
}

const isUuid = (value: unknown): value is string => typeof value === "string" && uuid.test(value);

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

const isUuidList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isUuid);

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value > 0;
