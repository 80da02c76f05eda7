// The job that permanently removes soft-deleted resources past their purge time, and expired memberships, role bindings, API
// keys and sessions, and deletes members with an expired invitation. It asks what ends next, runs when that has ended, and asks again after
// what this server has written. Every server runs it, without coordination: each transaction locks what it
// removes, checks it again, and skips what another one has locked. A transaction removes a bounded number of rows, so that it
// holds a lock for milliseconds, and leaves a state from which any other can continue.
import type { Logger } from "pino";
import { type Repetition, repeat } from "../../timers/repeat.ts";
import { createRuns } from "../../timers/runs.ts";
import { createLooks, retryMs } from "../looks.ts";
import { createPauses } from "../pauses.ts";
import { createExpiryTasks } from "./expired-rows.ts";
import { findDueTasks } from "./find-due.ts";
import { createPurgeableCustomersTask } from "./purgeable-customers.ts";
import { isInOrg, keepsDeleted } from "../../standard-methods/definition/definition.ts";
import { createPurgeableTask } from "./purgeable-in-orgs.ts";
import { createPurgeableOrgsTask } from "./purgeable-orgs.ts";
import type { PurgeKind, PurgeTaskDependencies } from "./purge-task.ts";
import { type PausedTask, type PurgeStep, createPurgeTurns } from "./run-purge.ts";

export interface PurgeJobDependencies extends Omit<PurgeTaskDependencies, "rowsPerStep"> {
  readonly logger: Logger;
  /** The longest time from one look at what ends next to another. */
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

export type PurgeJob = Repetition<PurgeResult>;

const defaultRowsPerStep = 200;
const defaultMaxRunMs = 30_000;

/** How often it asks `looks` whether to look. */
const tickMs = 500;

/** A server that looks no more often than that does so at these times only, whatever ends or is written meanwhile. */
const rareMs = 3_600_000;

export function createPurgeJob(dependencies: PurgeJobDependencies): PurgeJob {
  const { database, logger, intervalMs, clock = () => performance.now() } = dependencies;
  const isRare = intervalMs >= rareMs;
  const looks = createLooks({ writes: database.activity.writes, longestMs: intervalMs, clock });
  const runs = createRuns();
  const run = createRun(dependencies, clock, () => runs.failures++);
  let isFailing = false;

  return repeat(
    async (signal) => {
      looks.begin();
      try {
        const { isCut, nextInMs, tookMs, ...result } = await run(signal);
        looks.end(isCut, nextInMs, tookMs);
        isFailing = false;
        return result;
      } catch (error) {
        looks.end(false, retryMs);
        throw error;
      }
    },
    {
      intervalMs: isRare ? intervalMs : Math.min(tickMs, intervalMs),
      isDue: isRare ? undefined : looks.isDue,
      onError(err) {
        // Logged once, until a run succeeds.
        if (!isFailing) logger.error({ err }, "failed to search for resources to purge; trying again");
        isFailing = true;
      },
      runs,
    },
  );
}

interface Run extends PurgeResult {
  /** Whether it was over before everything was done that it could do. */
  readonly isCut: boolean;
  readonly nextInMs: number | undefined;
  /** How long its last look took. */
  readonly tookMs: number;
}

/** Returns the function that gives turns to the tasks that have something to do, until none has or the time of a run is over. */
function createRun(
  dependencies: PurgeJobDependencies,
  clock: () => number,
  onFailed: () => void,
): (signal: AbortSignal) => Promise<Run> {
  const { database, logger, intervalMs, maxRunMs = defaultMaxRunMs, onStep } = dependencies;
  const tasks = createTasks(dependencies, clock);
  // Until a look that comes in any case.
  const aheadMs = 2 * intervalMs;
  return async (signal) => {
    const end = clock() + maxRunMs;
    const isOver = (): boolean => signal.aborted || clock() >= end;
    const removed: Record<PurgeKind, number> = {};
    const pausedBefore = tasks.some(({ paused }) => paused.list().length > 0);
    const turns = createPurgeTurns({
      isOver,
      onStep(step) {
        if (step.resources > 0) removed[step.kind] = (removed[step.kind] ?? 0) + step.resources;
        onStep?.(step);
      },
      onFailure(kind, scope, err) {
        if (signal.aborted) return;
        onFailed();
        logger.error({ err, kind, scope }, "failed to purge resources");
      },
    });
    try {
      for (let isFurther = true; ;) {
        const lookedAt = clock();
        const { due, now, nextInMs } = await findDueTasks(database, tasks, aheadMs);
        const tookMs = clock() - lookedAt;
        if (due.length === 0 || !isFurther || isOver()) {
          const isDone = !pausedBefore && due.length === 0 && turns.hasLeftNothing();
          return { removed, isDone, isCut: due.length > 0 && isOver(), nextInMs, tookMs };
        }
        isFurther = await turns.take(due, now);
      }
    } finally {
      if (Object.keys(removed).length > 0) logger.info({ removed }, "purged resources");
    }
  };
}

/** Returns all tasks, in the order of a run: what expires, resources in orgs, orgs, customers. */
function createTasks(
  { rowsPerStep = defaultRowsPerStep, ...job }: PurgeJobDependencies,
  clock: () => number,
): readonly PausedTask[] {
  const dependencies = { ...job, rowsPerStep };
  // Resources come before their parents. What a provider purges is swept (src/resources/sweeps).
  const deletable = dependencies.registry.inOrgs.filter(
    (definition) => isInOrg(definition) && keepsDeleted(definition) && definition.lifecycle?.byProvider !== true,
  );
  const tasks = [
    ...createExpiryTasks(dependencies),
    ...deletable.map((definition) => createPurgeableTask(dependencies, definition)),
    createPurgeableOrgsTask(dependencies),
    createPurgeableCustomersTask(dependencies),
  ];
  return tasks.map((task) => ({ ...task, paused: createPauses(clock) }));
}
