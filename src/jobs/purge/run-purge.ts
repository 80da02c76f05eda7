import type { Pauses } from "../pauses.ts";
import type { PurgeKind, PurgeTask, Removed } from "./purge-task.ts";

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

export interface PurgeRun {
  /** When it was found that there is something to do, by the database's clock. */
  readonly now: string;
  /** Reports whether to stop. Called between transactions. */
  readonly isOver: () => boolean;
  /** Called after each transaction. */
  readonly onStep: (step: PurgeStep) => void;
  /** Called when something could not be removed. It is left to a later run, and this run continues. */
  readonly onFailure: (kind: PurgeKind, scope: string, error: unknown) => void;
}

/**
 * Removes everything that can be purged, and is in no scope that is paused.
 *
 * @returns whether nothing was left to other servers or a later run.
 * @throws the error of the database when the search fails.
 */
export async function runPurge(tasks: readonly PausedTask[], run: PurgeRun): Promise<boolean> {
  let isDone = true;
  for (const task of tasks) isDone = (await runTask(task, run)) && isDone;
  return isDone;
}

async function runTask(
  { kind, find, paused }: PausedTask,
  { now, isOver, onStep, onFailure }: PurgeRun,
): Promise<boolean> {
  const leftOut = new Set(paused.list());
  const unchanged = new Set<string>();
  const leaveOut = (scope: string): void => {
    paused.begin(scope, pauses);
    leftOut.add(scope);
  };
  while (!isOver()) {
    const units = await find([...leftOut], now);
    if (units.length === 0) return leftOut.size === 0;
    for (const { scope, remove } of units) {
      if (isOver()) break;
      if (leftOut.has(scope)) continue;
      try {
        const removed = await remove();
        if (removed === undefined) leaveOut(scope);
        else {
          // It has changed since it was found, so that it cannot be removed now, and the same search finds it again.
          if (removed.rows > 0) unchanged.delete(scope);
          else if (unchanged.has(scope)) leftOut.add(scope);
          else unchanged.add(scope);
          paused.forget(scope);
          onStep({ kind, scope, ...removed });
        }
      } catch (error) {
        leaveOut(scope);
        onFailure(kind, scope, error);
        // If the database itself fails, the next search throws and ends the run.
        break;
      }
    }
  }
  return false;
}
