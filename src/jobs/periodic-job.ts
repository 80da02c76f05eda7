import type { Logger } from "pino";

interface PeriodicJobOptions<Item> {
  /** Finds what there is to do, a bounded number of items. */
  readonly find: () => Promise<readonly Item[]>;
  /** Works on one item. Returns how much it did. */
  readonly work: (item: Item) => Promise<number>;
  /** How long to wait between two runs. */
  readonly intervalMs: number;
  readonly logger: Logger;
  /** What it logs when it fails: `failed to end operations`. */
  readonly failure: string;
}

/** A job that every server runs. */
export interface PeriodicJob {
  /**
   * Runs once, after the run in progress. Returns how much it did. An item that fails is logged and left to the next run, so
   * that what one org does not allow does not hold up the others.
   *
   * @throws the error of the database when the search fails.
   */
  runOnce(): Promise<number>;
  /** Stops after the run in progress. */
  close(): Promise<void>;
}

export function createPeriodicJob<Item>(options: PeriodicJobOptions<Item>): PeriodicJob {
  const { find, work, intervalMs, logger, failure } = options;
  const logFailure = (err: unknown, item?: Item): void => logger.error({ err, item }, `${failure}; trying again`);

  const run = async (): Promise<number> => {
    let done = 0;
    for (const item of await find()) {
      try {
        done += await work(item);
      } catch (error) {
        logFailure(error, item);
      }
    }
    return done;
  };

  let running: Promise<unknown> = Promise.resolve();
  const runOnce = (): Promise<number> => {
    const result = running.then(run);
    running = result.catch(() => {});
    return result;
  };
  const timer = setInterval(() => {
    runOnce().catch((error: unknown) => logFailure(error));
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
