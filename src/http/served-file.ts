import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** A file that is read or rendered when it is first requested, and then kept in memory. */
export interface ServedFile {
  readonly type: string;
  readonly plain: () => Buffer;
  /** The same content in codings that clients may accept, the best one first. */
  readonly coded: Readonly<Partial<Record<"br" | "gzip", () => Buffer>>>;
  /** Differs for other content. */
  readonly digest: () => string;
}

export function createServedFile(type: string, read: () => string | Uint8Array): ServedFile {
  const plain = once(() => Buffer.from(read()));
  return { type, plain, coded: { gzip: once(() => gzipSync(plain())) }, digest: once(() => digestOf(plain())) };
}

/** Returns a text that differs for other content, of 22 characters. */
export function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
