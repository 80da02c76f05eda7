import { type Histogram, observe } from "../measures/histogram.ts";

/**
 * `large`: large calls that have not begun, whose messages are not parsed. `begun`: large calls that have begun and want another slice.
 * `small`: all others.
 */
export type WaitingKind = "large" | "begun" | "small";

export type WaitingCalls = ReturnType<typeof createWaitingCalls>;

/**
 * Creates the queues of an org. Large calls and small ones have slices alternately. A large call begins only when no other one that has
 * begun waits for a slice: otherwise, the parsed messages of all of them would be in memory at the same time, for so long that the
 * collection of garbage stops all calls for tens of milliseconds.
 *
 * @param waits how long calls waited that have begun, in seconds.
 */
export function createWaitingCalls(waits: Histogram, clock: () => number) {
  const queues = { large: new Set<() => void>(), begun: new Set<() => void>(), small: new Set<() => void>() };
  let wasLarge = false;
  const shift = (kind: WaitingKind): (() => void) | undefined => {
    const [first] = queues[kind];
    if (first !== undefined) queues[kind].delete(first);
    return first;
  };
  return {
    /**
     * Adds a call, and returns a promise of its slice. When the signal is aborted, it leaves its queue, and the promise is resolved.
     *
     * @param onLeave called then.
     */
    add(kind: WaitingKind, signal: AbortSignal | undefined, onLeave: () => void): Promise<void> {
      const since = clock();
      return new Promise((resolve) => {
        const leave = (): void => {
          queues[kind].delete(start);
          onLeave();
          resolve();
        };
        const start = (): void => {
          signal?.removeEventListener("abort", leave);
          observe(waits, (clock() - since) / 1_000);
          resolve();
        };
        signal?.addEventListener("abort", leave, { once: true });
        queues[kind].add(start);
      });
    },
    /** Removes and returns the call that has the next slice. */
    next(): (() => void) | undefined {
      wasLarge = !wasLarge;
      const nextLarge = () => shift("begun") ?? shift("large");
      return wasLarge ? (nextLarge() ?? shift("small")) : (shift("small") ?? nextLarge());
    },
    count: (): number => queues.large.size + queues.begun.size + queues.small.size,
  };
}
