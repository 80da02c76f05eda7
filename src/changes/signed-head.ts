// The end of a log as it leaves the service: a JSON Web Signature that says what the last hash was. It is of a type of its own, without an
// audience and an end, so that nothing takes it for a token, nor a token for it. docs/decisions/0089 has the format.
import {
  type CryptoKey,
  type JSONWebKeySet,
  SignJWT,
  compactVerify,
  createLocalJWKSet,
  decodeProtectedHeader,
} from "jose";

/** The end of the log of an org, or of a customer. */
export interface LogEnd {
  /** The id of the org or of the customer. */
  readonly logId: string;
  readonly isOfCustomer: boolean;
  readonly revision: string;
  /** Of the revision, with microseconds: `2029-12-31T23:59:59.000001Z`. */
  readonly time: string;
  /** Of the database, when the revision was written; null if it is not known. */
  readonly timeline: number | null;
  /** The revision from which the chain holds. */
  readonly chainStart: string;
  /** Of the last entry, in hexadecimal digits. */
  readonly hash: string;
}

/** What a signed head says: who has signed it, and when, in seconds since 1970. */
export interface SignedEnd extends LogEnd {
  readonly issuer: string;
  readonly issuedAt: number;
}

/** Signs the end of a log. @param now in milliseconds. @throws ServiceError SERVICE_UNAVAILABLE when there is no key to sign with. */
export type SignHead = (end: LogEnd, now: number) => Promise<string>;

const type = "log-head+jwt";

interface SigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly key: CryptoKey;
}

/** @param issuer the URL of the service. */
export function createSignHead(signingKey: () => SigningKey, issuer: () => string): SignHead {
  return async ({ logId, isOfCustomer, revision, time, timeline, chainStart, hash }, now) => {
    const { id, algorithm, key } = signingKey();
    const log = isOfCustomer ? { customer_id: logId } : { org_id: logId };
    const claims = { ...log, revision, time, timeline, chain_start: chainStart, hash };
    return new SignJWT({ iss: issuer(), iat: Math.floor(now / 1000), ...claims })
      .setProtectedHeader({ alg: algorithm, typ: type, kid: id })
      .sign(key);
  };
}

/**
 * Reads a signed head.
 *
 * @param keys undefined to take it without a look at its signature.
 * @throws Error that says what is wrong with it.
 */
export async function readHead(jws: string, keys: JSONWebKeySet | undefined): Promise<SignedEnd> {
  const header = readHeader(jws);
  if (header.typ !== type) throw new Error(`it is no signed head: its type is not ${type}`);
  if (keys === undefined) return toEnd(Buffer.from(jws.split(".")[1] ?? "", "base64url"));
  if (!keys.keys.some(({ kid }) => kid === header.kid)) throw new Error(`its key ${header.kid} is not among the keys`);
  try {
    return toEnd((await compactVerify(jws, createLocalJWKSet(keys))).payload);
  } catch (cause) {
    throw new Error(`its signature is not that of its key ${header.kid}`, { cause });
  }
}

function readHeader(jws: string): { readonly typ?: string | undefined; readonly kid?: string | undefined } {
  try {
    return decodeProtectedHeader(jws);
  } catch (cause) {
    throw new Error("it is no JSON Web Signature", { cause });
  }
}

function toEnd(payload: Uint8Array): SignedEnd {
  const claims = JSON.parse(new TextDecoder().decode(payload)) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const value = claims[name];
    if (typeof value !== "string") throw new Error(`it has no ${name}`);
    return value;
  };
  const isOfCustomer = claims["org_id"] === undefined && claims["customer_id"] !== undefined;
  return {
    logId: text(isOfCustomer ? "customer_id" : "org_id"),
    isOfCustomer,
    revision: text("revision"),
    time: text("time"),
    timeline: typeof claims["timeline"] === "number" ? claims["timeline"] : null,
    chainStart: text("chain_start"),
    hash: text("hash"),
    issuer: text("iss"),
    issuedAt: Number(claims["iat"]),
  };
}
