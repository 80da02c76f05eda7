// Secrets that name their row: the id and 32 bytes, in the form of 75 characters. Of a row of a customer, the bytes are the id of the customer,
// so that it leads to the row, and 16 random ones; of others, all are random. Only a hash is stored, so the database holds nothing that could be
// used in place of the secret.
import { hash, randomBytes } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { bytesOfUuid, uuidOfHex } from "./uuid-bytes.ts";

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
  /** The customer of the row. Of a secret without one, it is random. */
  readonly customerId: string;
}

const pattern = /^([0-9a-f]{32})([A-Za-z0-9_-]{43})$/;

/** @param customerId of the row; undefined for one of no customer. */
export function createSecretHandle(customerId?: string): NewSecretHandle {
  const id = uuidv7();
  const start = customerId === undefined ? randomBytes(16) : bytesOfUuid(customerId);
  const text = `${id.replaceAll("-", "")}${Buffer.concat([start, randomBytes(16)]).toString("base64url")}`;
  return { id, text, hash: hashOf(text) };
}

/** Returns undefined for a text of another form. */
export function parseSecretHandle(text: string): SecretHandle | undefined {
  const [whole, id = "", rest = ""] = pattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const customerId = uuidOfHex(Buffer.from(rest, "base64url").toString("hex", 0, 16));
  return { id: uuidOfHex(id), hash: hashOf(text), customerId };
}

/** Hashes with SHA-256: the secret has too much entropy to be guessed. */
const hashOf = (text: string): Buffer => hash("sha256", text, "buffer");
