import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** A file that is read or rendered when it is first requested, and then kept in memory. */
export interface ServedFile {
  readonly type: string;
  readonly plain: () => Buffer;
  readonly compressed: () => Buffer;
  /** Differs for other content. */
  readonly digest: () => string;
}

export function createServedFile(type: string, read: () => string | Uint8Array): ServedFile {
  const plain = once(() => Buffer.from(read()));
  const digest = once(() => createHash("sha256").update(plain()).digest("base64url").slice(0, 22));
  return { type, plain, compressed: once(() => gzipSync(plain())), digest };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
