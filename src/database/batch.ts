// Batches reads. Lookups of one kind that arrive in the same turn of the event loop, or while the maximum number of statements
// is running, are sent together as one statement. Nothing is cached: each key is read after it was requested, so results are
// never stale. The higher the load, the fewer statements per lookup. When the database does not keep up, lookups wait, but not
// without bound: no more than fit in some memory, and no longer than their requests.
import { ServiceError } from "../errors/service-error.ts";
import { type ActiveSpan, activeSpan, withinAll } from "../tracing/active-span.ts";

export type Lookup<Key, Value> = (key: Key) => Promise<Value>;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
  /** By `performance.now()`. */
  readonly since: number;
  /** Of the call that waits. */
  readonly span: ActiveSpan | undefined;
}

export interface BatchOptions {
  readonly maxKeys: number;
  readonly maxStatements: number;
  /** The maximum number of waiting keys, of some 500 bytes each. Default: 20,000. */
  readonly maxWaiting?: number;
  /** After this time, the request of a key has been answered. Default: 30 s. */
  readonly maxWaitMs?: number;
}

/**
 * Creates a lookup that batches its keys. It fails with ServiceError SERVICE_UNAVAILABLE if too many wait, or one for too long.
 *
 * @param lookUpAll returns the values of the keys, in their order.
 */
export function createBatcher<Key, Value>(
  lookUpAll: (keys: readonly Key[]) => Promise<readonly Value[]>,
  { maxKeys, maxStatements, maxWaiting = 20_000, maxWaitMs = 30_000 }: BatchOptions = {
    maxKeys: 256,
    maxStatements: 2,
  },
): Lookup<Key, Value> {
  let waiting: Waiting<Key, Value>[] = [];
  let underWay = 0;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || waiting.length === 0 || underWay >= maxStatements) return;
    scheduled = true;
    // Includes every key that arrives in this turn of the event loop.
    setImmediate(send);
  };

  const send = (): void => {
    scheduled = false;
    rejectLate();
    if (waiting.length === 0) return;
    const batch = waiting.slice(0, maxKeys);
    waiting = waiting.slice(maxKeys);
    underWay++;
    void lookUp(batch).finally(() => {
      underWay--;
      schedule();
    });
    schedule();
  };

  /** They wait in the order of their arrival. */
  const rejectLate = (): void => {
    const earliest = performance.now() - maxWaitMs;
    const inTime = waiting.findIndex(({ since }) => since >= earliest);
    const late = waiting.splice(0, inTime === -1 ? waiting.length : inTime);
    for (const { reject } of late) reject(tooBusy());
  };

  const lookUp = async (batch: readonly Waiting<Key, Value>[]): Promise<void> => {
    try {
      const spans = batch.map(({ span }) => span);
      const values = await withinAll(spans, () => lookUpAll(batch.map((entry) => entry.key)));
      if (values.length !== batch.length) throw new Error(`${batch.length} keys gave ${values.length} values`);
      batch.forEach((entry, index) => entry.resolve(values[index] as Value));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
  };

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= maxWaiting) {
        reject(tooBusy());
        return;
      }
      waiting.push({ key, resolve, reject, since: performance.now(), span: activeSpan() });
      schedule();
    });
}

function tooBusy(): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "the database does not keep up; try again", { retryAfterMs: 1000 });
}
