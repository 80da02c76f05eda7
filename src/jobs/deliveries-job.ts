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
import {
  type WrittenLog,
  findDue,
  noteHeads,
  noteWritten,
  noteWrittenSince,
  perOrg,
  writtenLogOf,
} from "../events/deliveries/due.ts";
import type { DuePlace } from "../events/deliveries/store.ts";
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
const withoutWebhooksMs = 6 * 3_600_000;
/** How long what is written may take from its time, which is that of the lock, to its commit. */
const longestWriteMs = 120_000;
/** How often all heads of logs are compared, in case something took longer. */
const compareMs = 3_600_000;

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

  /** How many runs have ended. When the webhook is due again, the next look sees. */
  let ended = 0;
  const start = (place: DuePlace): void => {
    const end = deliver(place, ending.signal)
      .catch((err: unknown) => {
        if (!ending.signal.aborted) logger.error({ err, place }, "failed to deliver; trying again");
      })
      .finally(() => {
        running.delete(place.id);
        ended++;
        counts.running = running.size;
      });
    running.set(place.id, { orgId: place.org_id, end });
    counts.running = running.size;
  };

  const written = createWritten(database, (err) => logger.error({ err }, "failed to note what to deliver"));
  const find = createFind(database, written.note, () => {
    const byOrg = Map.groupBy(running.values(), ({ orgId }) => orgId);
    return [...byOrg].filter(([, runs]) => runs.length >= perOrg).map(([orgId]) => orgId);
  });

  const work = (place: DuePlace): Promise<number> => {
    if (!hasSlot(place)) return Promise.resolve(0);
    start(place);
    return Promise.resolve(1);
  };

  const looks = createLooks({
    writes: () => written.count() + ended,
    firstMs: withoutWebhooksMs,
    longestMs: withoutWebhooksMs,
  });
  const job = createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to find what to deliver" });
  return {
    ...job,
    counts,
    async close() {
      written.end();
      await job.close();
      ending.abort();
      await Promise.all([...running.values()].map(({ end }) => end));
    },
  };
}

/**
 * Creates the function that finds what is due.
 *
 * @param noteOwn notes what this server has written.
 * @param fullOrgs returns the orgs of which it delivers as much at once as it may.
 */
function createFind(
  database: Database,
  noteOwn: () => Promise<void>,
  fullOrgs: () => readonly string[],
): () => Promise<Found<DuePlace>> {
  const others = createNoteOthers(database);
  let isAnyActive = false;
  return async () => {
    await noteOwn();
    if (isAnyActive && others.isDue()) await others.note();
    const found = await findDue(database.reads, 2 * maxRunning, fullOrgs());
    others.seen(found.nowMs);
    ({ isAnyActive } = found);
    const { items, nextInMs = Infinity } = splitDue(found.places);
    if (!isAnyActive) return { items };
    return { items, nextInMs: others.isDue() ? 0 : Math.min(nextInMs, rarelyMs) };
  };
}

/** Keeps which orgs with webhooks this server has written, until that is noted in the database. */
function createWritten(database: Database, onError: (error: unknown) => void) {
  let logs = new Map<string, WrittenLog>();
  let count = 0;
  const add = (orgId: string, log: WrittenLog): void => {
    const isOrgChanged = log.isOrgChanged || logs.get(orgId)?.isOrgChanged === true;
    logs.set(orgId, { time: log.time, isOrgChanged });
  };
  const end = database.commits.subscribe((committed) => {
    const log = writtenLogOf(committed);
    if (log === undefined) return;
    add(committed.orgId, log);
    count++;
  }, onError);

  return {
    end,
    /** Returns how many commits there were. */
    count: () => count,
    async note(): Promise<void> {
      if (logs.size === 0) return;
      const noted = logs;
      logs = new Map();
      try {
        await noteWritten(database.writes, noted);
      } catch (error) {
        for (const [orgId, log] of noted) {
          const { time, isOrgChanged } = logs.get(orgId) ?? log;
          logs.set(orgId, { time, isOrgChanged: isOrgChanged || log.isOrgChanged });
        }
        throw error;
      }
    },
  };
}

/** Notes what other servers have written and may not have noted: at first and each hour all of it, and otherwise what is new. */
function createNoteOthers({ writes }: Pick<Database, "writes">) {
  let [comparedAt, notedAt] = [-Infinity, -Infinity];
  /** When it was noted last, by the clock of the database; undefined until the next look. */
  let notedMs: number | undefined;
  const isDue = (): boolean => performance.now() - notedAt >= rarelyMs;
  return {
    isDue,
    async note(): Promise<void> {
      const now = performance.now();
      if (notedMs === undefined || now - comparedAt >= compareMs) {
        await noteHeads(writes);
        comparedAt = now;
      } else {
        await noteWrittenSince(writes, new Date(notedMs - longestWriteMs));
      }
      notedAt = now;
      notedMs = undefined;
    },
    /** @param nowMs the clock of the database, after it was noted. */
    seen(nowMs: number): void {
      if (Number.isFinite(notedAt)) notedMs ??= nowMs;
    },
  };
}
