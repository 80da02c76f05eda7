/** What was made with much work, by keys, kept for a time and up to a size. */
export interface KeptForAWhile<Value> {
  /** Counts as a use. Returns undefined if it is not kept. */
  readonly find: (key: string) => Value | undefined;
  readonly keep: (key: string, value: Value) => void;
  readonly size: () => number;
}

interface Options<Value> {
  /** For how long each is kept, in milliseconds. It goes then, also if nobody asks for anything. */
  readonly keptMs: number;
  readonly bytesOf: (value: Value) => number;
  /** What all may have. Those that were used longest ago go first, and one that alone has more is not kept. */
  readonly maxBytes: number;
}

export function createKeptForAWhile<Value>({ keptMs, bytesOf, maxBytes }: Options<Value>): KeptForAWhile<Value> {
  /** In the order of last use. */
  const kept = new Map<string, { readonly value: Value; readonly end: NodeJS.Timeout }>();
  const forget = (key: string): void => {
    clearTimeout(kept.get(key)?.end);
    kept.delete(key);
  };
  return {
    find(key) {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },

    keep(key, value) {
      forget(key);
      // The timer keeps no process alive.
      kept.set(key, { value, end: setTimeout(() => forget(key), keptMs).unref() });
      let bytes = 0;
      for (const each of kept.values()) bytes += bytesOf(each.value);
      for (const [oldest, each] of kept) {
        if (bytes <= maxBytes) return;
        bytes -= bytesOf(each.value);
        forget(oldest);
      }
    },

    size: () => kept.size,
  };
}
