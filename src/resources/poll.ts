import { setTimeout as sleep } from "node:timers/promises";

const firstMs = 50;
const longestMs = 1_000;
/** The time to read once more and to respond, before the deadline of a call. */
const reserveMs = 500;

/** How long to wait, at most. Both are durations. */
interface WaitLimits {
  /** As the request asks. */
  readonly waitMs: number;
  /** What is left until the deadline of the call. */
  readonly callMs: number;
}

/**
 * Reads until the value is the expected one or the time is over.
 *
 * @param read gets whether it is called again: meanwhile the caller may have lost its credential or a permission.
 * @returns the last value.
 * @throws the reason of the signal, when it is aborted.
 */
export async function poll<Value>(
  read: (hasWaited: boolean) => Promise<Value>,
  isExpected: (value: Value) => boolean,
  { waitMs, callMs }: WaitLimits,
  signal: AbortSignal,
): Promise<Value> {
  const end = performance.now() + Math.min(waitMs, callMs - reserveMs);
  let hasWaited = false;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 1.5, longestMs)) {
    const value = await read(hasWaited);
    const leftMs = end - performance.now();
    if (isExpected(value) || leftMs <= 0) return value;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
    hasWaited = true;
  }
}
