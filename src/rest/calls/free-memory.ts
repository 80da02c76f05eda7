/** Shorter buffers share memory, or do not matter. */
const minBytes = 16_384;

/**
 * Frees the memory of a buffer that nobody reads again, if it has the memory for itself. Until then, it would be up to V8, which begins to
 * mark its whole heap after each 64 MB outside of it. With many long bodies, that takes more of the processor than to read them.
 */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength < minBytes || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}
