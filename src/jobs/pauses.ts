/** The time to wait before something is tried again, in milliseconds. It doubles with each failure in a row. */
interface PauseLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Remembers what has failed, and when it may be tried again. */
export interface Pauses {
  isOver(key: string): boolean;
  /** Returns the keys whose pauses are not over. Forgets those that have been over for as long again. */
  list(): string[];
  /** Begins a pause, longer than the one before. */
  begin(key: string, limits: PauseLimits): void;
  /** Forgets all failures but those of some keys. */
  keep(keys: readonly string[]): void;
  forget(key: string): void;
}

/** @param clock a monotonic clock, in milliseconds. */
export function createPauses(clock: () => number): Pauses {
  const pauses = new Map<string, { readonly ms: number; readonly until: number }>();
  const isOver = (key: string): boolean => (pauses.get(key)?.until ?? -Infinity) <= clock();
  return {
    isOver,
    list() {
      for (const [key, { ms, until }] of pauses) if (until + ms < clock()) pauses.delete(key);
      return [...pauses.keys()].filter((key) => !isOver(key));
    },
    begin(key, { firstMs, longestMs }) {
      const ms = Math.min(Math.max((pauses.get(key)?.ms ?? 0) * 2, firstMs), longestMs);
      pauses.set(key, { ms, until: clock() + ms });
    },
    keep(keys) {
      for (const key of pauses.keys()) if (!keys.includes(key)) pauses.delete(key);
    },
    forget: (key) => void pauses.delete(key),
  };
}
