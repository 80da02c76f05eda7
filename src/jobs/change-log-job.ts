// The job that keeps the partitions of the change log, and removes old sign-ins and refused calls. Every server runs it, at its start and then
// a few times a day. A role that does not own the log leaves partitions to `tenantry migrate`.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { createPartitions, dropPartitions, readLogState } from "../database/partitions.ts";
import { removeOldEvents } from "../events/access-events/write-events.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

interface ChangeLogJobOptions {
  readonly database: Database;
  /** The number of days for which entries are kept. */
  readonly retentionDays: number;
  readonly logger: Logger;
}

const intervalMs = 6 * 3_600_000;

/** With fewer months left, a server says that it needs a migration. */
const fewMonths = 12;

export function startChangeLogJob({ database, retentionDays, logger }: ChangeLogJobOptions): Repetition<void> {
  const run = async (): Promise<void> => {
    await removeOldEvents(database.writes);
    const { isOwner, monthsLeft, expired } = await readLogState(database.reads, retentionDays);
    if (!isOwner) {
      if (monthsLeft >= fewMonths && expired === 0) return;
      return logger.warn({ monthsLeft, expired }, notOwner);
    }
    await createPartitions(database.writes);
    const dropped = await dropPartitions(database, retentionDays);
    if (dropped.length > 0) logger.info({ dropped }, "dropped old entries of the change log");
  };
  const onError = (err: unknown): void =>
    logger.error({ err }, "failed to keep the partitions of the change log; trying again");
  const repetition = repeat(run, { intervalMs, onError });
  repetition.runOnce().catch(onError);
  return repetition;
}

const notOwner =
  "the role of this server may not create and drop partitions of the change log: run tenantry migrate with the role that owns the tables. Writes fail when no month is left, and expired partitions are past TENANTRY_CHANGE_LOG_DAYS";
