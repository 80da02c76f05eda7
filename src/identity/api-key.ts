// The format of an API key: `tenantry_` + 12 characters that identify it + 32 secret characters (190 bits) + 6 characters of
// checksum, all of them letters and digits. The fixed start and the checksum let scanners recognize leaked keys without asking
// the service. The checksum also saves the database a lookup for mistyped keys.
import { hash, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const start = "tenantry_";
const handleLength = 12;
const secretLength = 32;
const checksumLength = 6;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const keyPattern = new RegExp(`^${start}[0-9A-Za-z]{${handleLength + secretLength + checksumLength}}$`);

/** A new key, and what is stored of it. */
export interface NewApiKey {
  /** The whole key; shown once. */
  readonly secret: string;
  readonly prefix: string;
  readonly hash: Buffer;
}

export function createApiKey(): NewApiKey {
  const body = start + randomText(handleLength + secretLength);
  const secret = body + checksum(body);
  return { secret, prefix: prefixOf(secret), hash: hashApiKey(secret) };
}

/** Returns the part of a key that identifies it; undefined if the text does not have the format of a key. */
export function parseApiKey(text: string): string | undefined {
  if (!keyPattern.test(text)) return undefined;
  const body = text.slice(0, -checksumLength);
  return text.slice(-checksumLength) === checksum(body) ? prefixOf(text) : undefined;
}

/** Hashes with SHA-256: a key has too much entropy to be guessed, so a slow hash would add no protection. */
export function hashApiKey(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** Compares in constant time. */
export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

const prefixOf = (secret: string): string => secret.slice(0, start.length + handleLength);

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** Returns the CRC-32 in base 62, padded to the width of its largest value. */
function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let position = 0; position < checksumLength; position++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
