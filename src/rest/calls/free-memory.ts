/** Shorter buffers share memory, or do not matter. */
const minBytes = 16_384;

/**
 * Frees the memory of a buffer that nobody reads again, unless it shares the memory with others. If this were left to V8, it would mark
 * its whole heap for each 64 MB of such memory; with many long bodies, that takes more of the processor than reading them.
 */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength < minBytes || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}
