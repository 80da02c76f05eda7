// Counts requests in sliding windows, with two numbers for each key: the counts of the current window and of the one before. The sum of
// the current count and the part of the former window that still lies in the last `windowMs` is compared with the quota, so a key cannot
// use its quota twice around the boundary of two windows.

/** Counts of one key. The window begins with the first request after a pause. */
interface Counts {
  startMs: number;
  before: number;
  current: number;
}

export interface SlidingState {
  /** The number of requests that are accepted now. */
  readonly left: number;
  /** The time until the window ends. */
  readonly resetMs: number;
  /** The time until a request is accepted; 0 if one is now. */
  readonly retryMs: number;
}

export interface SlidingCounter {
  look(key: string): SlidingState;
  add(key: string): void;
}

/**
 * @param quota the number of requests in a window.
 * @param clock returns milliseconds that never go back.
 */
export function createSlidingCounter(quota: number, windowMs: number, clock: () => number): SlidingCounter {
  const ofKeys = new Map<string, Counts>();
  let sweptMs = clock();

  /** Forgets keys that count no more, once in a window. */
  const sweep = (now: number): void => {
    if (now - sweptMs < windowMs) return;
    sweptMs = now;
    for (const [key, { startMs }] of ofKeys) if (now - startMs >= 2 * windowMs) ofKeys.delete(key);
  };

  const advance = (key: string, now: number): Counts | undefined => {
    const counts = ofKeys.get(key);
    if (counts === undefined || now - counts.startMs < windowMs) return counts;
    if (now - counts.startMs >= 2 * windowMs) {
      ofKeys.delete(key);
      return undefined;
    }
    counts.startMs += windowMs;
    counts.before = counts.current;
    counts.current = 0;
    return counts;
  };

  return {
    look(key) {
      const now = clock();
      const counts = advance(key, now);
      if (counts === undefined) return { left: quota, resetMs: windowMs, retryMs: 0 };
      const { startMs, before, current } = counts;
      const resetMs = startMs + windowMs - now;
      // Rounded down, so that a quota of few requests is whole once a window has passed.
      const left = Math.max(0, quota - current - Math.floor((before * resetMs) / windowMs));
      if (left > 0) return { left, resetMs, retryMs: 0 };
      // Until the part of the former window is small enough or, if this window is full itself, until this one has become the former.
      const isFull = current >= quota;
      const share = isFull ? 1 : (quota - current) / before;
      const retryMs = isFull ? resetMs : resetMs - windowMs * share;
      return { left, resetMs, retryMs: Math.max(1, Math.floor(retryMs) + 1) };
    },

    add(key) {
      const now = clock();
      sweep(now);
      const counts = advance(key, now);
      if (counts === undefined) ofKeys.set(key, { startMs: now, before: 0, current: 1 });
      else counts.current++;
    },
  };
}
