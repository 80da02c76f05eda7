import type { Logger } from "pino";
import { type Repetition, repeat } from "../timers/repeat.ts";
import { createRuns } from "../timers/runs.ts";
import { type Looks, retryMs } from "./looks.ts";

/** What there is to do. */
export interface Found<Item> {
  /** A bounded number. */
  readonly items: readonly Item[];
  /** When there will be more, in milliseconds from now, if that is known. */
  readonly nextInMs?: number;
}

interface PeriodicJobOptions<Item> {
  readonly find: () => Promise<Found<Item>>;
  /** Works on one item, in steps that take no longer than their statements. Begins none after the signal. Returns how much it did. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<number>;
  /** How often it runs, or asks `looks` whether to. */
  readonly intervalMs: number;
  /** When it looks for something to do. Default: always. */
  readonly looks?: Looks;
  readonly logger: Logger;
  /** What it logs when it fails: `failed to end operations`. */
  readonly failure: string;
}

/**
 * A job that every server runs. A run returns how much it did. An item that fails is logged and left to the next run, so that what
 * one org does not allow does not hold up the others. A run fails with the error of the database when the search fails.
 */
export type PeriodicJob = Repetition<number>;

export function createPeriodicJob<Item>(options: PeriodicJobOptions<Item>): PeriodicJob {
  const { find, work, intervalMs, looks, logger, failure } = options;
  const runs = createRuns();
  const logFailure = (err: unknown, item?: Item): void => logger.error({ err, item }, `${failure}; trying again`);

  const run = async (signal: AbortSignal): Promise<number> => {
    let done = 0;
    looks?.begin();
    const { items, nextInMs } = await find().catch((error: unknown) => {
      looks?.end(false, retryMs);
      throw error;
    });
    for (const item of items) {
      if (signal.aborted) break;
      try {
        done += await work(item, signal);
      } catch (error) {
        if (signal.aborted) continue;
        runs.failures++;
        logFailure(error, item);
      }
    }
    looks?.end(items.length > 0, nextInMs);
    return done;
  };
  return repeat(run, { intervalMs, isDue: looks?.isDue, onError: (error) => logFailure(error), runs });
}
