import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemErrorCode } from "./system-error-code.ts";
import { toldDelayMs } from "./told-delay.ts";

/** Runs something, and again when it failed for a reason that may pass. */
export type Retry = <Result>(run: () => Promise<Result>) => Promise<Result>;

export interface RetryOptions {
  /** The longest wait before each further try, where nobody says how long to wait. */
  readonly delaysMs: readonly number[];
  /** Ends the waiting: the failure is passed on at once. */
  readonly signal: AbortSignal;
  /** Told before each wait how long it is. */
  readonly onRetry: (error: unknown, waitMs: number) => void;
}

/** Nobody wants to wait longer for a command; a service that says so is down, not busy. */
const longestToldMs = 120_000;

/** Whoever says to wait for no time at all is not to be asked without end, and without a pause. */
const leastRateLimitMs = 250;

/**
 * A service that counts its callers' requests is not failing: who waits as it says will be let through in the end. So
 * there is no last try for that, however often others come first; for everything else there is.
 */
export function createRetry({ delaysMs, signal, onRetry }: RetryOptions): Retry {
  return async (run) => {
    let failures = 0;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        const toldMs = toldDelayMs(error) ?? 0;
        const delayMs = isRateLimit(error) ? leastRateLimitMs : delaysMs[failures++];
        if (!isTransient(error) || delayMs === undefined || toldMs > longestToldMs) throw error;
        const waitMs = spread(toldMs, delayMs);
        if (!signal.aborted) onRetry(error, waitMs);
        const isOver = await wait(waitMs, false, { signal }).catch(() => true);
        if (isOver) throw error;
      }
    }
  };
}

/** Not all at the same time, when many wait for one server; but never sooner than told. */
function spread(toldMs: number, delayMs: number): number {
  return Math.max(toldMs * (1 + Math.random() / 10), delayMs * (1 - Math.random() / 4));
}

/** RESOURCE_EXHAUSTED is also said where waiting does not help: of a limit on how much there may be. */
export function isRateLimit(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.ResourceExhausted && toldDelayMs(error) !== undefined;
}

const transientCodes = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Aborted]);
const transientSystemErrors = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"]);

function isTransient(error: unknown): boolean {
  const systemError = systemErrorCode(error);
  if (systemError !== undefined) return transientSystemErrors.has(systemError);
  return isRateLimit(error) || (error instanceof ConnectError && transientCodes.has(error.code));
}
