// Secrets that name their row: the id and 32 random bytes. Only a hash is stored, so the database holds nothing that could be
// used in place of the secret.
import { hash, randomBytes } from "node:crypto";
import { v7 as uuidv7 } from "uuid";

/** A new secret, and what is stored of it. */
export interface NewSecretHandle {
  readonly id: string;
  /** 75 characters: letters, digits, `-` and `_`. */
  readonly text: string;
  readonly hash: Buffer;
}

export interface SecretHandle {
  readonly id: string;
  readonly hash: Buffer;
}

const pattern = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})[A-Za-z0-9_-]{43}$/;

export function createSecretHandle(): NewSecretHandle {
  const id = uuidv7();
  const text = `${id.replaceAll("-", "")}${randomBytes(32).toString("base64url")}`;
  return { id, text, hash: hashOf(text) };
}

/** Returns undefined for a text of another form. */
export function parseSecretHandle(text: string): SecretHandle | undefined {
  const [whole, ...parts] = pattern.exec(text) ?? [];
  return whole === undefined ? undefined : { id: parts.join("-"), hash: hashOf(text) };
}

/** Hashes with SHA-256: the secret has too much entropy to be guessed. */
const hashOf = (text: string): Buffer => hash("sha256", text, "buffer");
