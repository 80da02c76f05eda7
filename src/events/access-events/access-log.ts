// The log of sign-ins and refused calls. A call only notes what has happened; what is noted is written in batches beside the calls.
// Nothing that goes wrong with it is seen by a call, and a server to which nothing happens sends no statement.
import type { Logger } from "pino";
import type { Database } from "../../database/database.ts";
import { readClock } from "../../database/clock.ts";
import { repeat } from "../../timers/repeat.ts";
import type { RunningJob } from "../../timers/runs.ts";
import type { NoteAccess } from "./access-event.ts";
import { createFindLine, type LineLimits } from "./org-lines.ts";
import { createPendingEvents, type PendingLimits } from "./pending-events.ts";
import { trimEvents, writeEvents } from "./write-events.ts";

export interface AccessLog {
  readonly note: NoteAccess;
  /** Writes what is noted. When it is closed, it writes what is pending. */
  readonly job: RunningJob;
}

interface AccessLogLimits extends LineLimits, PendingLimits {
  /** About how many lines the log of an org keeps. */
  readonly linesPerOrg: number;
}

interface AccessLogOptions {
  readonly database: Pick<Database, "writes">;
  readonly logger: Pick<Logger, "warn">;
  readonly limits?: AccessLogLimits;
  readonly intervalMs?: number;
}

const usualLimits: AccessLogLimits = {
  inAll: 5_000,
  perCaller: 200,
  perOrg: 1_000,
  ownPerHour: 1_000,
  othersPerHour: 200,
  linesPerOrg: 50_000,
};

const usualIntervalMs = 2_000;

/** The log of an org is trimmed when a server has begun to write into it, and after so many lines. */
const linesBetweenTrims = 500;

/** Of more orgs than this, it is not remembered how many lines they got. */
const maxOrgs = 10_000;

type Written = Awaited<ReturnType<typeof writeEvents>>;

const leftOut = "sign-ins and refused calls came faster than they are written; some are not in the logs of their orgs";

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { database, logger, limits = usualLimits, intervalMs = usualIntervalMs } = options;
  const clock = () => performance.now();
  const pending = createPendingEvents(limits, clock);
  const findLine = createFindLine(limits);
  /** How many lines orgs have got since they were trimmed, by their ids. */
  const linesOf = new Map<string, number>();

  let reported = 0;

  const trim = async (written: Written): Promise<void> => {
    if (linesOf.size > maxOrgs) linesOf.clear();
    for (const [org, lines] of written) {
      const since = (linesOf.get(org.id) ?? linesBetweenTrims) + lines;
      const isDue = since > linesBetweenTrims;
      if (isDue) await trimEvents(database.writes, org, limits.linesPerOrg);
      linesOf.set(org.id, isDue ? 0 : since);
    }
  };

  const write = async (): Promise<void> => {
    const events = pending.take();
    if (events.length === 0) return;
    let written: Written;
    try {
      const now = { time: await readClock(database.writes), ms: clock() };
      written = await database.writes.transaction().execute((db) => writeEvents(db, events, now, findLine));
    } catch (error) {
      pending.putBack(events);
      throw error;
    }
    await trim(written);
    const dropped = pending.dropped();
    if (dropped > reported) logger.warn({ events: dropped - reported }, leftOut);
    reported = dropped;
  };

  const onError = (err: unknown): void =>
    logger.warn({ err }, "failed to write sign-ins and refused calls; trying again");
  const repetition = repeat(write, { intervalMs, isDue: () => pending.size() > 0, onError });
  return {
    note: (event) => pending.add(event),
    job: {
      name: "access-log",
      runs: repetition.runs,
      async close() {
        await repetition.close();
        await write().catch(onError);
      },
    },
  };
}
