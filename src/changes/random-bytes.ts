import { randomBytes } from "node:crypto";

/** How many bytes are asked for at once. */
const supply = 4_096;

let [bytes, used] = [Buffer.alloc(0), 0];

/**
 * Returns random bytes that nobody else gets, as unpredictable as those of `randomBytes`. They are taken from many that were asked for at
 * once: to ask takes as long for one as for thousands, and a write needs some for each entry of the log and for each id.
 */
export function takeRandomBytes(count: number): Buffer {
  if (count > supply) return randomBytes(count);
  if (used + count > bytes.length) [bytes, used] = [randomBytes(supply), 0];
  used += count;
  return bytes.subarray(used - count, used);
}
