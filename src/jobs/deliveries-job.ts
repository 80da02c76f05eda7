// The job that delivers what webhooks have to deliver.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { LoggedMessage } from "../events/changes/logged-messages.ts";
import type { AttemptDependencies } from "../events/deliveries/attempt.ts";
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
  writtenLogOf,
} from "../events/deliveries/due.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import { splitDue } from "./due.ts";
import type { PeriodicJob } from "./periodic-job.ts";
import { createTurnsJob } from "./turns-job.ts";

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
  const written = createWritten(database, (err) => logger.error({ err }, "failed to note what to deliver"));
  const others = createNoteOthers(database);
  let isAnyActive = false;
  const job = createTurnsJob({
    async find(limit, fullOrgIds) {
      await written.note();
      if (isAnyActive && others.isDue()) await others.note();
      const found = await findDue(database.reads, limit, fullOrgIds);
      others.seen(found.nowMs);
      ({ isAnyActive } = found);
      const { items, nextInMs = Infinity } = splitDue(found.places);
      if (!isAnyActive) return { items };
      return { items, nextInMs: others.isDue() ? 0 : Math.min(nextInMs, rarelyMs) };
    },
    deliver,
    writes: written.count,
    looksMs: { firstMs: withoutWebhooksMs, longestMs: withoutWebhooksMs },
    onRunning: (count) => void (counts.running = count),
    intervalMs,
    logger,
  });
  return {
    ...job,
    counts,
    async close() {
      written.end();
      await job.close();
    },
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
  /** The clock of the database at the last look, and at the last one before it was noted: everything until then was. */
  let [seenMs, notedMs]: (number | undefined)[] = [];
  const isDue = (): boolean => performance.now() - notedAt >= rarelyMs;
  return {
    isDue,
    async note(): Promise<void> {
      const now = performance.now();
      const beforeMs = seenMs;
      if (notedMs === undefined || now - comparedAt >= compareMs) {
        await noteHeads(writes);
        comparedAt = now;
      } else {
        await noteWrittenSince(writes, new Date(notedMs - longestWriteMs));
      }
      notedAt = now;
      notedMs = beforeMs;
    },
    /** @param nowMs the clock of the database. */
    seen(nowMs: number): void {
      seenMs = nowMs;
    },
  };
}
