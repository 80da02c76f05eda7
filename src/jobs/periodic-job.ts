import type { Logger } from "pino";

interface PeriodicJobOptions {
  /** Returns how much it did. */
  readonly run: () => Promise<number>;
  /** How long to wait between two runs. */
  readonly intervalMs: number;
  readonly logger: Logger;
  /** What it logs when a run fails: `failed to end operations`. */
  readonly failure: string;
}

/** A job that every server runs. */
export interface PeriodicJob {
  /** Runs once, after the run in progress. Returns how much it did. */
  runOnce(): Promise<number>;
  /** Stops after the run in progress. */
  close(): Promise<void>;
}

export function createPeriodicJob({ run, intervalMs, logger, failure }: PeriodicJobOptions): PeriodicJob {
  let running: Promise<unknown> = Promise.resolve();
  const runOnce = (): Promise<number> => {
    const result = running.then(run);
    running = result.catch(() => {});
    return result;
  };
  const timer = setInterval(() => {
    runOnce().catch((err: unknown) => logger.error({ err }, `${failure}; trying again`));
  }, intervalMs);
  timer.unref();

  return {
    runOnce,
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
