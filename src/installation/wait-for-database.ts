import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isDatabaseUnavailable } from "../database/failure.ts";
import { CertificateError } from "../database/tls-files.ts";
import { causesOf } from "../errors/causes-of.ts";

/**
 * Runs a step of the start, and again as long as it fails because the database cannot be reached or is not ready.
 *
 * @throws the first other error of the step, or the reason of the signal.
 */
export type WhenDatabaseAnswers = <Result>(step: () => Promise<Result>) => Promise<Result>;

interface WaitOptions {
  readonly logger: Logger;
  /** Called before each wait. If it throws, the server does not wait. */
  readonly onWait: () => Promise<{ readonly url: string }>;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const intervalMs = 500;

/** How often a server that waits says so. */
const noticeEveryMs = 30_000;

/** Creates the function with which a server waits for its database, and says that it does. */
export function createWhenDatabaseAnswers({ logger, onWait, signal }: WaitOptions): WhenDatabaseAnswers {
  let noticeAt = 0;
  return async (step) => {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        const failure = causesOf(error).find(mayAnswerLater);
        if (failure === undefined) throw error;
        signal.throwIfAborted();
        const { url } = await onWait();
        if (performance.now() >= noticeAt) {
          noticeAt = performance.now() + noticeEveryMs;
          logger.warn({ err: failure }, `waiting for the database; ${url} answers 503 meanwhile`);
        }
        await sleep(intervalMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  };
}

/** A certificate that is not accepted at the start is more likely a wrong setting than one that is being replaced. */
const mayAnswerLater = (error: unknown): boolean =>
  isDatabaseUnavailable(error) && !(error instanceof CertificateError);
