import { v7 as uuidv7 } from "uuid";
import { takeRandomBytes } from "./random-bytes.ts";
import { parseMicroseconds } from "./revision-time.ts";

/** Returns another id for something that a write creates, greater than those before. */
export type NewId = () => string;

/**
 * Creates the source of the ids of a write: UUIDs of version 7 (RFC 9562) with the time of the write, its microseconds in place of the
 * leftmost random bits (6.2, method 3), and a counter. The times of the writes in an org ascend, so its ids are in the order of its
 * revisions, whatever the clocks of the servers are.
 *
 * @param time of the write, `2029-12-31T23:59:59.000001Z`.
 */
export function createIdSource(time: string): NewId {
  const microseconds = parseMicroseconds(time);
  const msecs = Math.floor(microseconds / 1000);
  const fraction = Math.floor(((microseconds - msecs * 1000) * fractions) / 1000);
  let count = 0;
  return () => uuidv7({ msecs, seq: (fraction * counts + count++) | 0, random: takeRandomBytes(16) });
}

/** A millisecond has 12 bits, and the counter 20. */
const [fractions, counts] = [2 ** 12, 2 ** 20];
