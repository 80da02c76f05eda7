// The job that keeps states of orgs from which the past is read. A state comes when as much has changed since the last one as the org has rows,
// but not more often than every some thousand revisions: so states take less room than the log, and a reading of the past never has to
// consider more changes than rows. The server that commits a revision whose number is due makes the state of its org. An org whose log is
// longer than its states gets those that are missing once somebody has asked about its past, from the oldest on, each from the one before.
import type { Logger } from "pino";
import { type StateSeries, keepLatest, keepNext } from "../standard-methods/past/state-series.ts";
import { type OrgKey, isLogOfCustomer } from "../database/org-key.ts";
import { numberOf } from "../changes/revision.ts";
import type { Database } from "../database/database.ts";
import type { LongReads } from "../access/snapshots/long-reads.ts";
import { type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface PastStatesJobOptions extends Omit<StateSeries, "leastRevisions"> {
  readonly database: Pick<Database, "reads" | "writes" | "commits">;
  /** The orgs whose past somebody has asked about, where much has changed since. */
  readonly longReads: LongReads;
  readonly logger: Logger;
  readonly intervalMs?: number;
  readonly leastRevisions?: number;
}

/** The least number of revisions from one state to the next. */
const everyRevisions = 10_000;

/** So many orgs wait for a state. Those beyond get one when the next is due. */
const maxOrgs = 1_000;

const secondMs = 1_000;

const failure = "failed to keep a state of an org to read its past from";

/** Each state is one item of a run, so that a long log does not hold up what is due. */
export function createPastStatesJob(options: PastStatesJobOptions): PeriodicJob {
  const { database, longReads, logger, intervalMs = secondMs, leastRevisions = everyRevisions } = options;
  const series = { ...options, leastRevisions };
  const due = new Map<string, OrgKey>();
  const isDueAt = (before: string, after: string): boolean =>
    numberOf(before) / BigInt(leastRevisions) < numberOf(after) / BigInt(leastRevisions);

  const unsubscribe = database.commits.subscribe(
    ({ orgId: id, before, entries }) => {
      const last = entries.at(-1);
      if (last === undefined || before === undefined || !isDueAt(before, last.revision)) return;
      const org = { id, customer_id: last.customer_id };
      if (!isLogOfCustomer(org) && due.size < maxOrgs) due.set(id, org);
    },
    (err) => logger.error({ err }, failure),
  );

  const job = createPeriodicJob<() => Promise<number>>({
    find: () => {
      const latest = [...due.values()].map((org) => async () => {
        due.delete(org.id);
        return Number(await keepLatest(series, org));
      });
      const missing = longReads.list().map((org) => async () => {
        const isMore = await keepNext(series, org).catch((error: unknown) => {
          longReads.forget(org.id);
          throw error;
        });
        if (!isMore) longReads.forget(org.id);
        return Number(isMore);
      });
      return Promise.resolve({ items: [...latest, ...missing] });
    },
    work: (keep) => keep(),
    intervalMs,
    looks: { isDue: () => due.size > 0 || longReads.list().length > 0, begin() {}, end() {} },
    logger,
    failure,
  });
  return {
    ...job,
    close() {
      unsubscribe();
      return job.close();
    },
  };
}
