import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemErrorCode } from "./system-error-code.ts";

/** Runs something, and again when it failed for a reason that may pass. */
export type Retry = <Result>(run: () => Promise<Result>) => Promise<Result>;

export interface RetryOptions {
  /** The longest wait before each further try. */
  readonly delaysMs: readonly number[];
  /** Ends the waiting: the failure is passed on at once. */
  readonly signal: AbortSignal;
  /** Told before each wait. */
  readonly onRetry: (error: unknown) => void;
}

export function createRetry({ delaysMs, signal, onRetry }: RetryOptions): Retry {
  return async (run) => {
    for (const delay of delaysMs) {
      try {
        return await run();
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (!signal.aborted) onRetry(error);
        // Not all at the same time, when many wait for one server.
        const isOver = await wait(delay * (1 - Math.random() / 4), false, { signal }).catch(() => true);
        if (isOver) throw error;
      }
    }
    return run();
  };
}

const transientCodes = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted, Code.Aborted]);
const transientSystemErrors = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"]);

function isTransient(error: unknown): boolean {
  const systemError = systemErrorCode(error);
  if (systemError !== undefined) return transientSystemErrors.has(systemError);
  return error instanceof ConnectError && transientCodes.has(error.code);
}
