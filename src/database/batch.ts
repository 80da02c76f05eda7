// Reads are batched, not cached: lookups of one kind that arrive while a statement is under way wait for it to end and
// then go out together as one. Each is read after it was asked for, so nothing is ever stale, and the busier the
// service, the fewer statements a lookup costs.

/** Looks up one key. */
export type Lookup<Key, Value> = (key: Key) => Promise<Value>;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchOptions {
  /** How many keys one statement takes at most. */
  readonly maxKeys: number;
  /** How many statements may be under way at once. */
  readonly maxStatements: number;
}

/**
 * @param lookUpAll answers the values of all keys, in their order.
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
    // Everything that arrives in this turn of the event loop goes along.
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
