// The pace at which a log is sent that has more than fits on a page in one revision: that of its readers, for as long as they read.
import { setTimeout as sleep } from "node:timers/promises";
import type { StreamQueue } from "./stream-queue.ts";

type Reader = Pick<StreamQueue<unknown>, "isEmpty" | "whenEmpty">;

export interface Pace {
  /** Begins a revision: of those who were too slow, who has taken everything since then is waited for again. */
  readonly begin: () => void;
  /** Returns when readers have taken what they were sent, or are too slow: they are not waited for any more. */
  readonly whenTaken: (readers: readonly Reader[]) => Promise<void>;
}

/** How long the next part of a revision waits for readers that have not taken the one before: so many short waits. */
const [waitMs, waits] = [100, 50];

/** While this process stands still, nobody can read: that counts as one wait. */
async function waitForLong(signal: AbortSignal): Promise<void> {
  for (let count = 0; count < waits; count++) await sleep(waitMs, undefined, { signal, ref: false });
}

/** @param patience resolves when readers were waited for long enough; the signal ends it. */
export function createPace(patience: (signal: AbortSignal) => Promise<unknown> = waitForLong): Pace {
  let slow: ReadonlySet<Reader> = new Set();
  const isBehind = (reader: Reader): boolean => !reader.isEmpty();
  return {
    begin() {
      slow = new Set([...slow].filter(isBehind));
    },

    async whenTaken(readers) {
      const awaited = readers.filter((reader) => isBehind(reader) && !slow.has(reader));
      if (awaited.length === 0) return;
      const waited = new AbortController();
      await Promise.race([Promise.all(awaited.map((reader) => reader.whenEmpty())), patience(waited.signal)]);
      waited.abort();
      slow = new Set([...slow, ...awaited.filter(isBehind)]);
    },
  };
}
