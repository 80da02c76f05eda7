/** Runs something when what is known to end has ended. */
export interface EndTimer {
  /** Notes that something ends after this time. What ends later than a run that comes in any case is not noted. */
  readonly note: (delayMs: number) => void;
  readonly close: () => void;
}

/** The least time between two runs: many ends are as much work as few. */
const spacingMs = 500;

/** Several servers know of the same end. They come one after the other, and those that come later find nothing to do. */
const spreadMs = 400;

/**
 * Creates a timer that calls `run` within a second of the next end that it knows, and not at all if it knows none.
 *
 * @param horizonMs the time until a run that comes in any case; 0 to leave all ends to these.
 */
export function createEndTimer(run: () => void, horizonMs: number): EndTimer {
  const spread = Math.random() * spreadMs;
  let timer: NodeJS.Timeout | undefined;
  let [at, notBefore] = [Infinity, 0];
  return {
    note(delayMs) {
      if (Math.max(0, delayMs) >= horizonMs) return;
      const now = performance.now();
      const due = Math.max(now, now + delayMs + spread, notBefore);
      if (due >= at) return;
      at = due;
      clearTimeout(timer);
      timer = setTimeout(() => {
        at = Infinity;
        notBefore = performance.now() + spacingMs;
        run();
      }, due - now);
      timer.unref();
    },
    close() {
      at = -Infinity;
      clearTimeout(timer);
    },
  };
}
