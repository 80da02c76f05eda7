// A job that delivers: every server runs it, and a lease keeps two from delivering of the same row. A run finds what is due and starts what
// has a slot, so that receivers that are slow hold up no others.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { type DuePlace, perOrg } from "../events/deliveries/store.ts";
import { splitDue } from "./due.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface TurnsJobOptions {
  readonly database: Database;
  /** Finds up to so many that are due, and whether there are any that deliver at all. */
  readonly findDue: (
    db: Database["reads"],
    limit: number,
  ) => Promise<{ readonly isAnyActive: boolean; readonly places: readonly DuePlace[] }>;
  readonly deliver: (place: DuePlace, signal: AbortSignal) => Promise<void>;
  /** Called with how many are under way. */
  readonly onRunning: (count: number) => void;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** Delivers of so many at once. */
const maxRunning = 128;

/** How long another server may have left one. */
const rarelyMs = 60_000;
/** The same if there is none that delivers. */
const withoutAnyMs = 3_600_000;

export function createTurnsJob(options: TurnsJobOptions): PeriodicJob {
  const { database, deliver, intervalMs, logger } = options;
  const ending = new AbortController();
  /** By id: the org, and the run. */
  const running = new Map<string, { readonly orgId: string; readonly end: Promise<void> }>();

  const hasSlot = ({ id, org_id: orgId }: DuePlace): boolean =>
    running.size < maxRunning &&
    !running.has(id) &&
    [...running.values()].filter((each) => each.orgId === orgId).length < perOrg;

  const start = (place: DuePlace): void => {
    const end = deliver(place, ending.signal)
      .catch((err: unknown) => {
        if (!ending.signal.aborted) logger.error({ err, place }, "failed to deliver; trying again");
      })
      .finally(() => {
        running.delete(place.id);
        options.onRunning(running.size);
      });
    running.set(place.id, { orgId: place.org_id, end });
    options.onRunning(running.size);
  };

  const find = async (): Promise<Found<DuePlace>> => {
    const { isAnyActive, places } = await options.findDue(database.reads, 2 * maxRunning);
    const { items, nextInMs = Infinity } = splitDue(places);
    return isAnyActive ? { items, nextInMs: Math.min(nextInMs, rarelyMs) } : { items };
  };

  const work = (place: DuePlace): Promise<number> => {
    if (!hasSlot(place)) return Promise.resolve(0);
    start(place);
    return Promise.resolve(1);
  };

  const looks = createLooks({ writes: database.activity.writes, longestMs: withoutAnyMs });
  const job = createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to find what to deliver" });
  return {
    ...job,
    async close() {
      await job.close();
      ending.abort();
      await Promise.all([...running.values()].map(({ end }) => end));
    },
  };
}
