import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemErrorCode } from "./system-error-code.ts";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** Runs a function, and again after transient failures. */
export type Retry = <Result>(run: () => Promise<Result>) => Promise<Result>;

export interface RetryOptions {
  /** The longest delay before each retry, unless the service requests a longer one. */
  readonly delaysMs: readonly number[];
  /** Aborts the wait, and rethrows the failure. */
  readonly signal: AbortSignal;
  /** Called before each wait, with its duration. */
  readonly onRetry: (error: unknown, waitMs: number) => void;
}

/** The longest delay to accept. A service that requests a longer one is considered down. */
const longestRetryAfterMs = 120_000;

/** The shortest delay after a rate limit, so that a requested delay of zero does not cause a busy loop. */
const leastRateLimitMs = 250;

/**
 * Creates a function that retries transient failures. Rate limits are retried without limit, because a caller that waits as
 * requested will succeed eventually. Other failures are retried a limited number of times.
 */
export function createRetry({ delaysMs, signal, onRetry }: RetryOptions): Retry {
  return async (run) => {
    let failures = 0;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        const requestedMs = retryAfterMs(error) ?? 0;
        const delayMs = isRateLimit(error) ? leastRateLimitMs : delaysMs[failures++];
        if (!isTransient(error) || delayMs === undefined || requestedMs > longestRetryAfterMs) throw error;
        const waitMs = spread(requestedMs, delayMs);
        if (!signal.aborted) onRetry(error, waitMs);
        const isOver = await wait(waitMs, false, { signal }).catch(() => true);
        if (isOver) throw error;
      }
    }
  };
}

/** Randomizes a delay, so that clients do not retry at the same time, but never below the requested delay. */
function spread(requestedMs: number, delayMs: number): number {
  return Math.max(requestedMs * (1 + Math.random() / 10), delayMs * (1 - Math.random() / 4));
}

/** Whether an error is a rate limit. RESOURCE_EXHAUSTED without a retry delay means a limit on the number of resources. */
export function isRateLimit(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.ResourceExhausted && retryAfterMs(error) !== undefined;
}

const transientCodes = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Aborted]);
const transientSystemErrors = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"]);

export function isTransient(error: unknown): boolean {
  const systemError = systemErrorCode(error);
  if (systemError !== undefined) return transientSystemErrors.has(systemError);
  return isRateLimit(error) || (error instanceof ConnectError && transientCodes.has(error.code));
}

/**
 * Returns the requested delay before a retry, in milliseconds: from `google.rpc.RetryInfo`, which the service sends, or from
 * the `Retry-After` of a proxy. Undefined if there is none, or only a date.
 */
function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const [info] = error.findDetails(RetryInfoSchema);
  if (info?.retryDelay !== undefined) return durationMs(info.retryDelay);
  const header = error.metadata.get("retry-after");
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : undefined;
}
