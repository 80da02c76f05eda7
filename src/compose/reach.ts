import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { createElapsedClock } from "../database/age-clock.ts";
import { type DatabaseReach, createDatabaseReach } from "../database/reach.ts";
import type { RunningDatabase } from "../installation/start-database.ts";

/** Whether the database of a server can be reached that answers checks while it cannot. */
export interface Reach extends DatabaseReach {
  /** Returns since when the database is away, if that is no longer than the server answers anything; otherwise undefined. */
  readonly answersSince: () => Date | undefined;
}

/** A database, with whether it can be reached; undefined for a server that answers nothing without it. */
type ReachedDatabase = RunningDatabase & { readonly reach?: Reach };

export function composeReach(
  { staleChecksMs }: Pick<Config, "staleChecksMs">,
  running: RunningDatabase,
  logger: Logger,
): ReachedDatabase {
  if (staleChecksMs === 0) return running;
  const forSeconds = staleChecksMs / 1_000;
  const reach = createDatabaseReach(running.database, {
    clock: createElapsedClock(),
    onAway: (err) =>
      logger.warn({ err, forSeconds }, "the database is away: checks with max_staleness are answered from memory"),
    onReturn: (awayMs, calls) =>
      logger.info({ awayMs: Math.round(awayMs), calls }, "the database is back: all answers are exact"),
  });
  const answersSince = (): Date | undefined => {
    const awayMs = reach.awayMs();
    return reach.isAway() && awayMs <= staleChecksMs ? new Date(Date.now() - awayMs) : undefined;
  };
  return {
    ...running,
    database: reach.database,
    reach: { ...reach, answersSince },
    async close() {
      reach.close();
      await running.close();
    },
  };
}
