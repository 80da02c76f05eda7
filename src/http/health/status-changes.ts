import { setTimeout as sleep } from "node:timers/promises";

/** The interval at which the status is read while somebody waits for a change. Draining is reported immediately. */
const intervalMs = 2_000;

export interface StatusChanges<Status> {
  /** Waits until the status is not `known` any more, or draining begins, and returns it; undefined if the signal is aborted first. */
  next(known: Status, signal: AbortSignal): Promise<Status | undefined>;
}

/**
 * Lets many callers wait for a change of a status. They share one reading of it, and none of them runs until it changes, so a thousand of
 * them cost nothing.
 *
 * @param read does not reject.
 */
export function createStatusChanges<Status>(read: () => Promise<Status>, draining: AbortSignal): StatusChanges<Status> {
  const waiting = new Map<(status: Status | undefined) => void, Status>();
  let isReading = false;

  /** Reads the status until nobody waits. */
  const readOn = async (): Promise<void> => {
    isReading = true;
    try {
      while (waiting.size > 0) {
        await sleep(intervalMs, undefined, { signal: draining, ref: false }).catch(() => undefined);
        if (waiting.size === 0) return;
        const status = await read();
        for (const [end, known] of waiting) if (known !== status || draining.aborted) end(status);
      }
    } finally {
      isReading = false;
    }
  };

  return {
    next: (known, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(undefined);
          return;
        }
        const end = (status: Status | undefined): void => {
          waiting.delete(end);
          signal.removeEventListener("abort", leave);
          resolve(status);
        };
        const leave = (): void => end(undefined);
        signal.addEventListener("abort", leave, { once: true });
        waiting.set(end, known);
        if (!isReading) void readOn();
      }),
  };
}
