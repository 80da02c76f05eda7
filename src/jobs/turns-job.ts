// A job that delivers: every server runs it, and a lease keeps two from delivering of the same row. A run finds what is due and starts what
// has a slot, so that receivers that are slow hold up no others.
import type { Logger } from "pino";
import { perOrg } from "../events/deliveries/due.ts";
import type { DuePlace } from "../events/deliveries/lease.ts";
import type { TakeTurn } from "../events/deliveries/turn.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface TurnsJobOptions {
  /** Finds up to so many that are due. @param fullOrgIds those of which as many are under way as may be. */
  readonly find: (limit: number, fullOrgIds: readonly string[]) => Promise<Found<DuePlace>>;
  readonly deliver: TakeTurn;
  /** Returns how often this server has written what may be due. */
  readonly writes: () => number;
  /** The longest time between two looks, and that to the first one after something was found. */
  readonly looksMs: { readonly firstMs?: number; readonly longestMs: number };
  /** Called with how many are under way. */
  readonly onRunning: (count: number) => void;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** Delivers of so many at once. */
const maxRunning = 128;

export function createTurnsJob(options: TurnsJobOptions): PeriodicJob {
  const { deliver, intervalMs, logger } = options;
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

  const find = (): Promise<Found<DuePlace>> => options.find(2 * maxRunning, fullOrgs());

  const work = (place: DuePlace): Promise<number> => {
    if (!hasSlot(place)) return Promise.resolve(0);
    start(place);
    return Promise.resolve(1);
  };

  const looks = createLooks({ writes: () => options.writes() + ended, ...options.looksMs });
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
