// The job that keeps the partitions of the change log. Every server runs it, at its start and then a few times a day. A server that has no
// role which owns the log leaves partitions to `tenantry migrate`.
import type { Logger } from "pino";
import type { AsOwner, Database } from "../database/database.ts";
import { type LogDays, findHolding, readDaysToKeep } from "../database/held-log.ts";
import { readClock } from "../database/clock.ts";
import { removeOldRows } from "../database/old-rows.ts";
import { createPartitions, dropPartitions, readLogState } from "../database/partitions.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

interface ChangeLogJobOptions {
  readonly database: Database;
  readonly asOwner: AsOwner;
  readonly logDays: LogDays;
  readonly logger: Logger;
}

/** The job, and for how many webhooks the log is kept for longer, as the last run has found. */
export interface ChangeLogJob extends Repetition<void> {
  readonly held: { webhooks: number };
}

const intervalMs = 6 * 3_600_000;

/** With fewer months left, a server says that it needs a migration. */
const fewMonths = 12;

export function startChangeLogJob({ database, asOwner, logDays, logger }: ChangeLogJobOptions): ChangeLogJob {
  const held = { webhooks: 0 };
  const run = async (signal: AbortSignal): Promise<void> => {
    const found = await readLogState(database.reads, logDays.kept);
    const days = found.expired === 0 ? logDays.kept : await readDaysToKeep(database.reads, logDays);
    const state = days === logDays.kept ? found : await readLogState(database.reads, days);
    const { monthsLeft, expired } = state;
    const holding = days === logDays.kept ? [] : await findHolding(database.reads, logDays, maxHolding);
    await removeOldRows(database.writes, oldStates(days), await readClock(database.writes), signal);
    held.webhooks = holding.length;
    if (holding.length > 0) logger.warn({ days, logDays, webhooks: holding.slice(0, shownHolding) }, isHeld);
    const dropped = await asOwner((owner) => keepPartitions(owner, days));
    if (dropped === undefined) {
      if (monthsLeft < fewMonths || expired > 0) logger.warn({ monthsLeft, expired }, notOwner);
    } else if (dropped.length > 0) logger.info({ dropped }, "dropped old entries of the change log");
  };
  const onError = (err: unknown): void =>
    logger.error({ err }, "failed to keep the partitions of the change log; trying again");
  const repetition = repeat(run, { intervalMs, onError });
  repetition.runOnce().catch(onError);
  return { ...repetition, held };
}

/** Creates the partitions of the next months, and drops those that are too old. Returns these; undefined if the role may do neither. */
async function keepPartitions(database: Database, days: number): Promise<readonly string[] | undefined> {
  const { isOwner, expired } = await readLogState(database.reads, days);
  if (!isOwner) return undefined;
  await createPartitions(database.writes);
  return expired === 0 ? [] : dropPartitions(database, days);
}

const dayMs = 86_400_000;

/** The states of orgs of which the log has nothing any more: a partition is dropped when all of its month is too old. */
const oldStates = (days: number) =>
  ({ table: "past_states", key: ["revision"], time: "time", keptMs: (days + 31) * dayMs }) as const;

/** So many webhooks are counted for which the log is kept, and named in a warning. */
const maxHolding = 1_000;
const shownHolding = 10;

const isHeld =
  "the change log is kept for longer than TENANTRY_CHANGE_LOG_DAYS for webhooks with hold_retention; what they have not delivered within TENANTRY_HELD_LOG_DAYS more is removed";

const notOwner =
  "the role of this server may not create and drop partitions of the change log: set TENANTRY_MIGRATION_DATABASE_URL to the role that owns the tables, or run tenantry migrate with it. Writes fail when no month is left, and expired partitions are past TENANTRY_CHANGE_LOG_DAYS";
