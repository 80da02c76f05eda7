// A refusal costs as much of the processor as many an answer: an error with its details is written for each. A client that repeats
// a call at once, with a credential that is not valid or beyond its rate, gets as many as the process can write. So those of one
// address, or org, come at a pace once there are many.
import { setTimeout as sleep } from "node:timers/promises";

interface RefusalPaceOptions {
  /** The pace of the refusals of one key. */
  readonly perSecond?: number;
  /** How many of them come at once after a pause. */
  readonly burst?: number;
  /** @returns milliseconds that never go back. */
  readonly clock?: () => number;
}

/**
 * Returns undefined if a call may be refused now, and otherwise a promise of when it may, or of its end if that comes first.
 *
 * @param key whose call it is.
 * @param signal aborted when the call ends.
 */
export type PaceRefusal = (key: string, signal: () => AbortSignal) => Promise<void> | undefined;

/** More than an honest client with an expired credential gets, and some hundredths of the processor. */
const defaultPerSecond = 1_000;
const defaultBurst = 1_000;
/** As long as a client waits that has two thousand calls in flight. Calls that have ended would add up to more. */
const maxWaitMs = 2_000;

const sweepMs = 1_000;

export function createRefusalPace(options: RefusalPaceOptions = {}): PaceRefusal {
  const { perSecond = defaultPerSecond, burst = defaultBurst, clock = () => performance.now() } = options;
  const intervalMs = 1_000 / perSecond;
  /** How long ago the first refusal of a burst was due. */
  const burstMs = (burst - 1) * intervalMs;
  /** When the next refusal of a key is due. */
  const dueMs = new Map<string, number>();
  let sweptMs = clock();

  /** Forgets keys that have had a pause. */
  const sweep = (now: number): void => {
    if (now - sweptMs < sweepMs) return;
    sweptMs = now;
    for (const [key, due] of dueMs) if (due < now - burstMs) dueMs.delete(key);
  };

  return (key, signal) => {
    const now = clock();
    sweep(now);
    const due = Math.max(dueMs.get(key) ?? -Infinity, now - burstMs);
    dueMs.set(key, Math.min(due, now + maxWaitMs) + intervalMs);
    if (due <= now) return undefined;
    return sleep(Math.min(due - now, maxWaitMs), undefined, { signal: signal() }).catch(() => undefined);
  };
}
