// What tasks of the purge do, in turns: each one removes what one search has found, and then the next one, so that neither many rows of one
// kind nor those of one org delay what else has ended.
import type { Pauses } from "../pauses.ts";
import type { PurgeKind, PurgeTask, PurgeUnit, Removed } from "./purge-task.ts";

/** A task, with the scopes that it leaves out for a while: what fails there, or is locked by another server, holds up nothing else. */
export interface PausedTask extends PurgeTask {
  readonly paused: Pauses;
}

const pauses = { firstMs: 1_000, longestMs: 60_000 };

/** The result of one transaction of the job, and its scope. */
export interface PurgeStep extends Removed {
  readonly kind: PurgeKind;
  /** The id of the org or customer. */
  readonly scope: string;
}

interface PurgeRun {
  /** Reports whether to stop. Called between transactions. */
  readonly isOver: () => boolean;
  /** Called after each transaction. */
  readonly onStep: (step: PurgeStep) => void;
  /** Called when something could not be removed. It is left to a later run, and this run continues. */
  readonly onFailure: (kind: PurgeKind, scope: string, error: unknown) => void;
}

interface PurgeTurns {
  /**
   * Gives each task a turn.
   *
   * @param now when it was found that they have something to do, by the database's clock.
   * @returns whether one of them got any further.
   * @throws the error of the database when a search fails.
   */
  readonly take: (tasks: readonly PausedTask[], now: string) => Promise<boolean>;
  /** Whether nothing that was found was left to other servers or a later run. */
  readonly hasLeftNothing: () => boolean;
}

/** Begins a run. */
export function createPurgeTurns(run: PurgeRun): PurgeTurns {
  const states = new Map<PausedTask, TaskState>();
  const stateOf = (task: PausedTask): TaskState => {
    const state = states.get(task) ?? { leftOut: new Set(task.paused.list()), unchanged: new Set(), served: new Set() };
    states.set(task, state);
    return state;
  };
  return {
    async take(tasks, now) {
      let isFurther = false;
      for (const task of tasks) {
        if (run.isOver()) break;
        isFurther = (await takeTurn(task, stateOf(task), run, now)) || isFurther;
      }
      return isFurther;
    },
    hasLeftNothing: () => [...states.values()].every(({ leftOut }) => leftOut.size === 0),
  };
}

/** What a run knows of a task. */
interface TaskState {
  /** Scopes that this run leaves out. */
  readonly leftOut: Set<string>;
  /** Scopes of which a transaction removed nothing. */
  readonly unchanged: Set<string>;
  /** Scopes that had more than one transaction, and have no other one before all others had theirs. */
  readonly served: Set<string>;
}

async function takeTurn(task: PausedTask, state: TaskState, run: PurgeRun, now: string): Promise<boolean> {
  const { leftOut, served } = state;
  let units = await task.find([...leftOut, ...served], now);
  if (units.length === 0 && served.size > 0) {
    served.clear();
    units = await task.find([...leftOut], now);
  }
  let isFurther = false;
  const seen = new Set<string>();
  for (const unit of units) {
    if (run.isOver()) break;
    if (leftOut.has(unit.scope)) continue;
    if (seen.has(unit.scope)) served.add(unit.scope);
    seen.add(unit.scope);
    isFurther = true;
    // If the database itself fails, the next search throws and ends the run.
    if (!(await removeUnit(task, state, run, unit))) break;
  }
  return isFurther;
}

/** Returns false if it failed. */
async function removeUnit(
  { kind, paused }: PausedTask,
  { leftOut, unchanged }: TaskState,
  { onStep, onFailure }: PurgeRun,
  { scope, remove }: PurgeUnit,
): Promise<boolean> {
  const leaveOut = (): void => {
    paused.begin(scope, pauses);
    leftOut.add(scope);
  };
  try {
    const removed = await remove();
    if (removed === undefined) {
      leaveOut();
      return true;
    }
    // It has changed since it was found, so that it cannot be removed now, and the same search finds it again.
    if (removed.rows > 0) unchanged.delete(scope);
    else if (unchanged.has(scope)) leftOut.add(scope);
    else unchanged.add(scope);
    paused.forget(scope);
    onStep({ kind, scope, ...removed });
    return true;
  } catch (error) {
    leaveOut();
    onFailure(kind, scope, error);
    return false;
  }
}
