// Batches reads. Lookups of one kind that arrive in the same turn of the event loop, or while the maximum number of statements
// is running, are sent together as one statement. Nothing is cached: each key is read after it was requested, so results are
// never stale. The higher the load, the fewer statements per lookup.

/** Looks up one key. */
export type Lookup<Key, Value> = (key: Key) => Promise<Value>;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchOptions {
  /** The maximum number of keys in a statement. */
  readonly maxKeys: number;
  /** The maximum number of concurrent statements. */
  readonly maxStatements: number;
}

/**
 * Creates a lookup that batches its keys.
 *
 * @param lookUpAll returns the values of the keys, in their order.
 */
export function createBatcher<Key, Value>(
  lookUpAll: (keys: readonly Key[]) => Promise<readonly Value[]>,
  options: BatchOptions = { maxKeys: 256, maxStatements: 2 },
): Lookup<Key, Value> {
  let waiting: Waiting<Key, Value>[] = [];
  let underWay = 0;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || waiting.length === 0 || underWay >= options.maxStatements) return;
    scheduled = true;
    // Includes every key that arrives in this turn of the event loop.
    setImmediate(send);
  };

  const send = (): void => {
    scheduled = false;
    const batch = waiting.slice(0, options.maxKeys);
    waiting = waiting.slice(options.maxKeys);
    underWay++;
    void lookUp(batch).finally(() => {
      underWay--;
      schedule();
    });
    schedule();
  };

  const lookUp = async (batch: readonly Waiting<Key, Value>[]): Promise<void> => {
    try {
      const values = await lookUpAll(batch.map((entry) => entry.key));
      if (values.length !== batch.length) throw new Error(`${batch.length} keys gave ${values.length} values`);
      batch.forEach((entry, index) => entry.resolve(values[index] as Value));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
  };

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      schedule();
    });
}
