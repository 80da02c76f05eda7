// The job that keeps the partitions of the change log. Every server runs it, at its start and then a few times a day.
import type { Logger } from "pino";
import { createPartitions, dropPartitions } from "../changes/partitions.ts";
import type { Database } from "../database/database.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

interface ChangeLogJobOptions {
  readonly database: Database;
  /** The number of days for which entries are kept. */
  readonly retentionDays: number;
  readonly logger: Logger;
}

const intervalMs = 6 * 3_600_000;

/** Creates the partitions that writes need, and starts the job. @throws the error of the database when they cannot be created. */
export async function startChangeLogJob({
  database,
  retentionDays,
  logger,
}: ChangeLogJobOptions): Promise<Repetition<void>> {
  const run = async (): Promise<void> => {
    await createPartitions(database);
    const dropped = await dropPartitions(database, retentionDays);
    if (dropped.length > 0) logger.info({ dropped }, "dropped old entries of the change log");
  };
  const onError = (err: unknown): void =>
    logger.error({ err }, "failed to keep the partitions of the change log; trying again");
  await createPartitions(database);
  const repetition = repeat(run, { intervalMs, onError });
  repetition.runOnce().catch(onError);
  return repetition;
}
