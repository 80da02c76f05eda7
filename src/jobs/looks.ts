// When a job looks for work in the database. Most work comes from what this server has written, or is due at a time that the last look has
// seen. Beside these, it looks ever more rarely: for what another server has left when it ended.

export interface Looks {
  /** Whether it is time to look. Sends nothing. */
  readonly isDue: () => boolean;
  begin(): void;
  /**
   * @param hasWorked whether there was something to do. There may be more then.
   * @param nextInMs when the next work is due, if that is known.
   * @param tookMs how long the look itself took. One that had to pass over many rows is not followed at once, whatever is due.
   */
  end(hasWorked: boolean, nextInMs?: number, tookMs?: number): void;
}

/** How soon a look is repeated that failed, however rarely it would come otherwise: what it has not seen may be due. */
export const retryMs = 1_000;

/** How many times as long as a look the database rests after it, up to some time. */
const restsPerLook = 10;
const longestRestMs = 10_000;

interface LooksOptions {
  /** Returns how many transactions of this server have ended that may have written. */
  readonly writes: () => number;
  /** The longest time between two looks. It is reached by doubling that to the first one after some work or write. */
  readonly longestMs?: number;
  readonly firstMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

export function createLooks(options: LooksOptions): Looks {
  const { writes, firstMs = 1_000, longestMs = 60_000, clock = () => performance.now() } = options;
  let writesSeen = -1;
  let waitMs = 0;
  let nextAt = -Infinity;
  let restsUntil = -Infinity;
  return {
    isDue: () => clock() >= restsUntil && (writes() !== writesSeen || clock() >= nextAt),
    begin() {
      const now = writes();
      if (now !== writesSeen) waitMs = 0;
      writesSeen = now;
    },
    end(hasWorked, nextInMs = Infinity, tookMs = 0) {
      restsUntil = clock() + Math.min(restsPerLook * tookMs, longestRestMs, longestMs);
      waitMs = hasWorked ? 0 : Math.min(Math.max(waitMs * 2, firstMs), longestMs);
      nextAt = clock() + Math.min(waitMs, Math.max(nextInMs, 0));
    },
  };
}
