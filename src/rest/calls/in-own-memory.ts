/**
 * Returns a copy of bytes that are to be kept. `Buffer.from` takes short texts from a pool of 64 kB, all of which would be kept with
 * them.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
