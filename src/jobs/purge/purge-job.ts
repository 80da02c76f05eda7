// The job that permanently removes soft-deleted resources past their purge time, and expired memberships, role bindings, API
// keys and sessions, and deletes members with an expired invitation. Runs look ahead for what ends before the next one, and a timer removes
// it when it ends, as it does with what this server has committed meanwhile. Every server runs it, without coordination: each transaction locks what it
// removes, checks it again, and skips what another one has locked. A transaction removes a bounded number of rows, so that it
// holds a lock for milliseconds, and leaves a state from which any other can continue.
import type { Logger } from "pino";
import { readClock } from "../../database/clock.ts";
import { createExpiryTasks } from "./expired-rows.ts";
import { createPurgeableCustomersTask } from "./purgeable-customers.ts";
import { isInOrg, keepsDeleted } from "../../standard-methods/definition/definition.ts";
import { createPurgeableTask } from "./purgeable-in-orgs.ts";
import { createPurgeableOrgsTask } from "./purgeable-orgs.ts";
import { type EndTimer, createEndTimer } from "./end-timer.ts";
import { endAfterChange } from "./noted-ends.ts";
import type { PurgeKind, PurgeTask, PurgeTaskDependencies } from "./purge-task.ts";
import { type PurgeStep, runPurge } from "./run-purge.ts";
import { type Runs, createRuns, noteRun } from "../../timers/runs.ts";

export interface PurgeJobDependencies extends Omit<PurgeTaskDependencies, "rowsPerStep" | "aheadMs" | "onNextEnd"> {
  readonly logger: Logger;
  /** How long to wait from the end of a run to the next one. */
  readonly intervalMs: number;
  readonly rowsPerStep?: number;
  /** How long a run may take. It leaves the rest to the next run. */
  readonly maxRunMs?: number;
  readonly onStep?: (step: PurgeStep) => void;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

/** How many resources a run removed or, for invitations, deleted. */
interface PurgeResult {
  readonly removed: Readonly<Record<PurgeKind, number>>;
  /** Whether nothing was left to other servers or the next run. */
  readonly isDone: boolean;
}

export interface PurgeJob {
  readonly runs: Readonly<Runs>;
  /** Runs once, after the run in progress. @throws the error of the database when the search fails. */
  runOnce(): Promise<PurgeResult>;
  /** Stops after the transaction in progress. */
  close(): Promise<void>;
}

const defaultRowsPerStep = 200;
const defaultMaxRunMs = 30_000;

export function createPurgeJob(dependencies: PurgeJobDependencies): PurgeJob {
  const { logger, intervalMs } = dependencies;
  const aheadMs = intervalMs < hourMs ? 2 * intervalMs : 0;
  const ends = createEndTimer(() => void runExpiries(), aheadMs);
  const { expiries, tasks } = createTasks(dependencies, aheadMs, ends.note);
  const runs = createRuns();
  let isClosing = false;
  let isFailing = false;
  const run = createRun(dependencies, runs, () => isClosing);

  /** One run at a time. */
  let running: Promise<unknown> = Promise.resolve();
  const runOnce = (some = tasks, onBegin = (): void => {}): Promise<PurgeResult> => {
    const result = running.then(() => {
      onBegin();
      return noteRun(runs, () => run(some));
    });
    running = result.catch(() => {});
    return result;
  };

  const runAndLog = async (some = tasks, onBegin?: () => void): Promise<void> => {
    try {
      await runOnce(some, onBegin);
      isFailing = false;
    } catch (err) {
      // Logged once, until a run succeeds.
      if (!isFailing && !isClosing) logger.error({ err }, "failed to search for resources to purge; trying again");
      isFailing = true;
    }
  };

  /** Whether a run waits for the one in progress. It will find all that has ended by then, so no other one waits. */
  let isWaiting = false;
  const runExpiries = async (): Promise<void> => {
    if (isWaiting) return;
    isWaiting = true;
    await runAndLog(expiries, () => (isWaiting = false));
  };

  let timer: NodeJS.Timeout;
  const schedule = (delayMs: number): void => {
    timer = setTimeout(() => void runAndLog().then(() => isClosing || schedule(intervalMs)), delayMs);
    timer.unref();
  };
  // The random delay keeps servers that were started together from running together.
  schedule((intervalMs * (1 + Math.random())) / 2);
  // What ends before that.
  ends.note(firstLookMs);
  const unsubscribe = noteEnds(dependencies, ends.note);

  return {
    runs,
    runOnce: () => runOnce(),
    async close() {
      isClosing = true;
      unsubscribe();
      ends.close();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Returns the function that runs tasks, until nothing is left or the time of a run is over. */
function createRun(
  dependencies: PurgeJobDependencies,
  runs: Runs,
  isClosing: () => boolean,
): (tasks: readonly PurgeTask[]) => Promise<PurgeResult> {
  const { logger, maxRunMs = defaultMaxRunMs, clock = () => performance.now() } = dependencies;
  return async (tasks) => {
    const end = clock() + maxRunMs;
    const removed: Record<PurgeKind, number> = {};
    try {
      const isDone = await runPurge(tasks, {
        now: await readClock(dependencies.database.reads),
        isOver: () => isClosing() || clock() >= end,
        onStep(step) {
          if (step.resources > 0) removed[step.kind] = (removed[step.kind] ?? 0) + step.resources;
          dependencies.onStep?.(step);
        },
        onFailure(kind, scope, err) {
          if (isClosing()) return;
          runs.failures++;
          logger.error({ err, kind, scope }, "failed to purge resources");
        },
      });
      return { removed, isDone };
    } finally {
      if (Object.keys(removed).length > 0) logger.info({ removed }, "purged resources");
    }
  };
}

/** When a server that has started looks for what ends soon, in milliseconds. */
const firstLookMs = 1_000;

/** A server whose runs are an hour apart or more leaves to them what ends by itself. */
const hourMs = 3_600_000;

/** Notes what ends of what this server commits. Returns a function that ends this. */
function noteEnds({ database, logger }: PurgeJobDependencies, note: EndTimer["note"]): () => void {
  return database.commits.subscribe(
    ({ entries }) => {
      for (const entry of entries) note(endAfterChange(entry));
    },
    (err) => logger.error({ err }, "failed to note when something ends"),
  );
}

/** Returns the tasks for what expires, and all tasks of a run, in its order: what expires, resources in orgs, orgs, customers. */
function createTasks(
  { rowsPerStep = defaultRowsPerStep, ...job }: PurgeJobDependencies,
  aheadMs: number,
  onNextEnd: EndTimer["note"],
): { readonly expiries: readonly PurgeTask[]; readonly tasks: readonly PurgeTask[] } {
  const dependencies = { ...job, rowsPerStep, aheadMs, onNextEnd };
  const expiries = createExpiryTasks(dependencies);
  // Resources come before their parents. What a provider purges is swept (src/resources/sweeps).
  const deletable = dependencies.registry.inOrgs.filter(
    (definition) => isInOrg(definition) && keepsDeleted(definition) && definition.lifecycle?.byProvider !== true,
  );
  const tasks = [
    ...expiries,
    ...deletable.map((definition) => createPurgeableTask(dependencies, definition)),
    createPurgeableOrgsTask(dependencies),
    createPurgeableCustomersTask(dependencies),
  ];
  return { expiries, tasks };
}
