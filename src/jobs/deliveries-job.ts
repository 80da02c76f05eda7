// The job that delivers what webhooks have to deliver. Every server runs it; a lease keeps two from delivering of the same webhook. A run
// finds webhooks and starts what has a slot, so that receivers that are slow hold up no others.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { LoggedMessage } from "../events/changes/logged-messages.ts";
import { type AttemptDependencies } from "../events/deliveries/attempt.ts";
import { type DeliveryCounts, createDeliveryCounts } from "../events/deliveries/counts.ts";
import { createDeliver } from "../events/deliveries/deliver.ts";
import { createDisableWebhook } from "../events/deliveries/disable.ts";
import { createLogOfWebhook } from "../events/deliveries/read-ahead.ts";
import { type DuePlace, findDue, perOrg } from "../events/deliveries/store.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import { splitDue } from "./due.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface DeliveriesJobOptions {
  readonly dependencies: Pick<ResourceDependencies, "registry" | "authorHolds"> &
    Pick<AttemptDependencies, "sealer"> & {
      readonly database: Database;
      readonly loggedMessage: LoggedMessage;
      readonly sendToWebhook: AttemptDependencies["send"];
    };
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** Delivers of so many webhooks at once. */
const maxRunning = 128;

/** How long another server may have left a webhook. */
const rarelyMs = 60_000;
/** The same if there is no webhook that delivers. */
const withoutWebhooksMs = 3_600_000;

export interface DeliveriesJob extends PeriodicJob {
  readonly counts: DeliveryCounts;
}

export function createDeliveriesJob({ dependencies, intervalMs, logger }: DeliveriesJobOptions): DeliveriesJob {
  const { database, sealer, sendToWebhook: send } = dependencies;
  const counts = createDeliveryCounts();
  const log = createLogOfWebhook(dependencies);
  const disable = createDisableWebhook(dependencies, counts);
  const deliver = createDeliver({ database, log, send, sealer, disable, counts });
  const ending = new AbortController();
  /** By webhook: the org, and the run. */
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
        counts.running = running.size;
      });
    running.set(place.id, { orgId: place.org_id, end });
    counts.running = running.size;
  };

  const find = async (): Promise<Found<DuePlace>> => {
    const { isAnyActive, places } = await findDue(database.reads, 2 * maxRunning);
    const { items, nextInMs = Infinity } = splitDue(places);
    return isAnyActive ? { items, nextInMs: Math.min(nextInMs, rarelyMs) } : { items };
  };

  const work = (place: DuePlace): Promise<number> => {
    if (!hasSlot(place)) return Promise.resolve(0);
    start(place);
    return Promise.resolve(1);
  };

  const looks = createLooks({ writes: database.activity.writes, longestMs: withoutWebhooksMs });
  const job = createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to find what to deliver" });
  return {
    ...job,
    counts,
    async close() {
      await job.close();
      ending.abort();
      await Promise.all([...running.values()].map(({ end }) => end));
    },
  };
}
