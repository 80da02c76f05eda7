// Sets columns of the rows that were there before a migration, beside the calls. Several servers take turns. The log names the fill that
// has ended; what only a newer version knows is left to its servers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { fillBatch, listOpenFills } from "../database/migration/fills.ts";
import type { Fill, Migrations } from "../database/migration/migration.ts";
import { type RunningJob, createRuns, noteRun } from "../timers/runs.ts";

interface FillsOptions {
  readonly database: Pick<Database, "reads" | "writes">;
  readonly migrations: Migrations;
  readonly logger: Logger;
}

/** Between two batches, and while another server is at it. It doubles with each failure in a row. */
const pauseMs = 50;
const longestPauseMs = 60_000;

/** Starts with the fills that have not ended. When they have, nothing is left to do: only a migration adds others. */
export function startFills({ database, migrations, logger }: FillsOptions): Omit<RunningJob, "name"> {
  const closing = new AbortController();
  const { signal } = closing;
  const runs = createRuns();

  const run = async (name: string, fill: Fill): Promise<void> => {
    let waitMs = pauseMs;
    logger.info({ fill: name }, "filling columns of existing rows");
    for (let isOver = false; !isOver;) {
      await sleep(waitMs, undefined, { signal });
      try {
        isOver = (await fillBatch(database.writes, name, fill)) === "ended";
        waitMs = pauseMs;
      } catch (err) {
        signal.throwIfAborted();
        runs.failures++;
        logger.warn({ err, fill: name }, "failed to fill columns of existing rows; trying again");
        waitMs = Math.min(waitMs * 2, longestPauseMs);
      }
    }
    logger.info({ fill: name }, "filled columns of existing rows");
  };

  const runAll = async (): Promise<void> => {
    for (const name of await listOpenFills(database.reads)) {
      const migration = migrations[name];
      if (migration !== undefined && "fill" in migration) await run(name, migration.fill);
    }
  };
  const running = noteRun(runs, runAll).catch((err: unknown) => {
    if (!signal.aborted) logger.error({ err }, "failed to look for columns to fill; the next start does");
  });
  return {
    runs,
    close() {
      closing.abort();
      return running;
    },
  };
}
