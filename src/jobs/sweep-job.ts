// The job that brings resources to the state of their project and org. Every server runs it; the locks of the org and the sweep
// keep two from doing the same step.
import type { Logger } from "pino";
import { serviceAuthor } from "../changes/author.ts";
import { inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import type { ProviderDependencies } from "../resources/provider-dependencies.ts";
import {
  type NextSweep,
  type SweptScope,
  findNextSweeps,
  postponeSweep,
  queueSweep,
} from "../resources/sweeps/store.ts";
import { sweep } from "../resources/sweeps/sweep.ts";
import { splitDue } from "./due.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface SweepJobOptions {
  readonly dependencies: ProviderDependencies;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** How many scopes a run works on, and how many steps it makes in each. It leaves the rest to the next run. */
const scopesPerRun = 20;
const stepsPerRun = 20;

/** The longest time between two looks. */
const longestMs = 60_000;

const author = serviceAuthor("tenantry/sweep");

export function createSweepJob({ dependencies, intervalMs, logger }: SweepJobOptions): PeriodicJob {
  const { database } = dependencies;

  const step = (scope: SweptScope): Promise<boolean> =>
    inTransaction(database, (db) => {
      const org = { by: "id", value: scope.org_id } as const;
      const locks = { org, customer: true, state: "any" } as const;
      return writeInOrg(db, locks, author, (transaction) => sweep(transaction, dependencies, scope));
    });

  const find = async (): Promise<Found<NextSweep>> =>
    splitDue(await findNextSweeps(database.reads, scopesPerRun, longestMs));
  const work = async (scope: NextSweep, signal: AbortSignal): Promise<number> => {
    if (!scope.isQueued) await queueSweep(database.writes, scope);
    try {
      let steps = 1;
      while ((await step(scope)) && steps < stepsPerRun && !signal.aborted) steps++;
      return steps;
    } catch (error) {
      if (signal.aborted) throw error;
      // Otherwise those that fail again and again would take all places of a run.
      await postponeSweep(database.writes, scope);
      throw error;
    }
  };
  const looks = createLooks({ writes: database.activity.writes, longestMs });
  return createPeriodicJob({ find, work, intervalMs, looks, logger, failure: "failed to sweep orgs and projects" });
}
