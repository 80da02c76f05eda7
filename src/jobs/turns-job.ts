// A job that delivers: every server runs it, and a lease keeps two from delivering of the same row. A run finds what is due and starts what
// has a slot, so that receivers that are slow hold up no others. A look follows what this server has written in orgs with followers.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { findDue, perOrg } from "../events/deliveries/due.ts";
import type { Followers } from "../events/deliveries/followers.ts";
import type { DuePlace } from "../events/deliveries/lease.ts";
import type { TakeTurn } from "../events/deliveries/turn.ts";
import { splitDue } from "./due.ts";
import { createLooks } from "./looks.ts";
import { createNoteOthers, createWritten, rarelyMs } from "./noted-logs.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface TurnsJobOptions {
  readonly database: Database;
  readonly followers: Followers;
  readonly deliver: TakeTurn;
  /** Returns how often this server was asked to deliver what no entry of a log says. */
  readonly asked?: () => number;
  /** Called with how many are under way. */
  readonly onRunning: (count: number) => void;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** The longest time between two looks if there is nobody to deliver for. */
const withoutFollowersMs = 3_600_000;

/** Delivers of so many at once. */
const maxRunning = 128;

export function createTurnsJob(options: TurnsJobOptions): PeriodicJob {
  const { database, followers, deliver, asked = () => 0, intervalMs, logger } = options;
  const written = createWritten(database, followers, (err) => logger.error({ err }, "failed to note what to deliver"));
  const others = createNoteOthers(database, followers);
  const ending = new AbortController();
  /** By id: the org, and the run. */
  const running = new Map<string, { readonly orgId: string; readonly end: Promise<void> }>();

  const hasSlot = ({ id, org_id: orgId }: DuePlace): boolean =>
    running.size < maxRunning &&
    !running.has(id) &&
    [...running.values()].filter((each) => each.orgId === orgId).length < perOrg;

  /** How many runs have ended. When what they delivered of is due again, the next look sees. */
  let ended = 0;
  const start = (place: DuePlace): void => {
    const end = deliver(place, ending.signal)
      .catch((err: unknown) => {
        if (!ending.signal.aborted) logger.error({ err, place }, "failed to deliver; trying again");
      })
      .finally(() => {
        running.delete(place.id);
        ended++;
        options.onRunning(running.size);
      });
    running.set(place.id, { orgId: place.org_id, end });
    options.onRunning(running.size);
  };

  const fullOrgs = (): string[] => {
    const byOrg = Map.groupBy(running.values(), ({ orgId }) => orgId);
    return [...byOrg].filter(([, runs]) => runs.length >= perOrg).map(([orgId]) => orgId);
  };

  let isAnyActive = false;
  const find = async (): Promise<Found<DuePlace>> => {
    await written.note();
    if (isAnyActive && others.isDue()) await others.note();
    const found = await findDue(database.reads, followers, 2 * maxRunning, fullOrgs());
    others.seen(found.nowMs);
    ({ isAnyActive } = found);
    const { items, nextInMs = Infinity } = splitDue(found.places);
    if (!isAnyActive) return { items };
    return { items, nextInMs: others.isDue() ? 0 : Math.min(nextInMs, rarelyMs) };
  };

  const work = (place: DuePlace): Promise<number> => {
    if (!hasSlot(place)) return Promise.resolve(0);
    start(place);
    return Promise.resolve(1);
  };

  const writes = (): number => written.count() + asked() + ended;
  const looks = createLooks({ writes, firstMs: withoutFollowersMs, longestMs: withoutFollowersMs });
  const job = createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to find what to deliver" });
  return {
    ...job,
    async close() {
      written.end();
      await job.close();
      ending.abort();
      await Promise.all([...running.values()].map(({ end }) => end));
    },
  };
}
