// The job that keeps the partitions of the change log. Every server runs it, at its start and then a few times a day.
import type { Logger } from "pino";
import { createPartitions, dropPartitions } from "../changes/partitions.ts";
import type { Database } from "../database/database.ts";

interface ChangeLogJobOptions {
  readonly database: Database;
  /** The number of days for which entries are kept. */
  readonly retentionDays: number;
  readonly logger: Logger;
}

export interface ChangeLogJob {
  /** Stops after the run in progress. */
  close(): Promise<void>;
}

const intervalMs = 6 * 3_600_000;

/**
 * Creates the partitions that writes need, and starts the job.
 *
 * @throws the error of the database when they cannot be created.
 */
export async function startChangeLogJob({
  database,
  retentionDays,
  logger,
}: ChangeLogJobOptions): Promise<ChangeLogJob> {
  const run = async (): Promise<void> => {
    await createPartitions(database);
    const dropped = await dropPartitions(database, retentionDays);
    if (dropped.length > 0) logger.info({ dropped }, "dropped old entries of the change log");
  };
  let running = Promise.resolve();
  const runAndLog = (): void => {
    running = running.then(run).catch((err: unknown) => {
      logger.error({ err }, "failed to keep the partitions of the change log; trying again");
    });
  };
  await createPartitions(database);
  runAndLog();
  const timer = setInterval(runAndLog, intervalMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
