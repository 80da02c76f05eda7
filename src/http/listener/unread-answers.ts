// An answer whose client does not read it keeps its memory, and on HTTP/2 nothing else ends it. So a complete answer must be read
// within some time, and a large one at some rate.
import type { Writable } from "node:stream";

export interface ReadLimits {
  /** How long a complete answer may wait to be read. */
  readonly unreadMs: number;
  /** How many milliseconds each kilobyte of the answer adds. It sets the least rate at which a client must read. */
  readonly msPerKilobyte: number;
}

export const readLimits: ReadLimits = { unreadMs: 30_000, msPerKilobyte: 1000 / 16 };

type UnreadResponse = Pick<Writable, "writableEnded" | "writableFinished" | "writableLength">;

/**
 * Returns a function that reports whether an answer is overdue. It is called now and then for each answer; the time begins with
 * the first call at which the answer is complete.
 */
export function createOverdue({
  unreadMs,
  msPerKilobyte,
}: ReadLimits): (answer: UnreadResponse, now: number) => boolean {
  const deadlines = new WeakMap<UnreadResponse, number>();
  return (answer, now) => {
    if (!answer.writableEnded || answer.writableFinished) return false;
    const deadline = deadlines.get(answer) ?? now + unreadMs + (answer.writableLength / 1024) * msPerKilobyte;
    deadlines.set(answer, deadline);
    return now > deadline;
  };
}
