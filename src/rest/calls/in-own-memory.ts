/**
 * Returns a copy of bytes that are to be kept. `Buffer.from` puts short texts into a pool of 64 kB, and one of them would keep the whole
 * pool in memory.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
