// The job that removes rows which no log says anything about, when they are of no use any longer: responses that are kept for repeated requests,
// codes, links and browsers with which nobody can sign in any more, what has ended tokens that have expired since, and sign-ins and refused calls.
// Every server runs it, at its start and then every hour; several at once share the rows.
import type { Logger } from "pino";
import { rememberedMs } from "../access/engine/tables/token-table.ts";
import { readClock } from "../database/clock.ts";
import type { Database } from "../database/database.ts";
import { type OldRows, removeOldRows } from "../database/old-rows.ts";
import { keptUseDays } from "../access/uses/store.ts";
import { keptDays } from "../events/access-events/store.ts";
import { keptAnswerMs } from "../standard-methods/write/write-call.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

const dayMs = 86_400_000;

/** What is removed. What has expired says itself when that was. */
export const oldRows: readonly OldRows[] = [
  { table: "write_requests", key: ["actor_id", "request_id"], time: "create_time", keptMs: keptAnswerMs },
  // A code that is used again ends what it was exchanged for.
  { table: "authorization_codes", key: ["id"], time: "expire_time", keptMs: dayMs },
  { table: "sign_in_links", key: ["id"], time: "expire_time", keptMs: 0 },
  { table: "invitations", key: ["id"], time: "expire_time", keptMs: 0 },
  { table: "contact_links", key: ["id"], time: "expire_time", keptMs: 0 },
  {
    table: "contact_warnings",
    key: ["contact_id", "kind", "subject_id", "occasion"],
    keyTypes: { kind: "text", occasion: "timestamptz" },
    time: "expire_time",
    keptMs: 0,
  },
  { table: "browser_sessions", key: ["id"], isInNoOrg: true, time: "expire_time", keptMs: 0 },
  { table: "ended_tokens", key: ["id"], time: "end_time", keptMs: rememberedMs },
  // A longer time than findings can be about.
  {
    table: "access_uses",
    key: ["used_id", "part"],
    keyTypes: { part: "text" },
    time: "last_day",
    keptMs: keptUseDays * dayMs,
  },
  { table: "access_events", key: ["id"], time: "time", keptMs: keptDays * dayMs },
];

const hourMs = 3_600_000;

const failed = "failed to remove old rows; trying again in the next run";

interface OldRowsJobOptions {
  readonly database: Pick<Database, "writes">;
  readonly logger: Logger;
  readonly intervalMs?: number;
}

export function startOldRowsJob({
  database,
  logger,
  intervalMs = hourMs,
}: OldRowsJobOptions): Repetition<Readonly<Record<string, number>>> {
  const run = async (signal: AbortSignal): Promise<Readonly<Record<string, number>>> => {
    const now = await readClock(database.writes);
    const removed: Record<string, number> = {};
    for (const rows of oldRows) {
      try {
        removed[rows.table] = await removeOldRows(database.writes, rows, now, signal);
      } catch (err) {
        // What is in the other tables does not wait for it.
        logger.error({ err, table: rows.table }, failed);
      }
    }
    return removed;
  };
  const onError = (err: unknown): void => logger.error({ err }, failed);
  const job = repeat(run, { intervalMs, onError });
  job.runOnce().catch(onError);
  return job;
}
