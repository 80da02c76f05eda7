import type { PurgeKind, PurgeTask, Removed } from "./purge-task.ts";

/** The result of one transaction of the job, and its scope. */
export interface PurgeStep extends Removed {
  readonly kind: PurgeKind;
  /** The id of the org or customer. */
  readonly scope: string;
}

export interface PurgeRun {
  /** When it began, by the database's clock. */
  readonly now: string;
  /** Reports whether to stop. Called between transactions. */
  readonly isOver: () => boolean;
  /** Called after each transaction. */
  readonly onStep: (step: PurgeStep) => void;
  /** Called when something could not be removed. It is left to the next run, and this run continues. */
  readonly onFailure: (kind: PurgeKind, scope: string, error: unknown) => void;
}

/**
 * Removes everything that can be purged.
 *
 * @returns whether nothing was left to other servers or a later run.
 * @throws the error of the database when the search fails.
 */
export async function runPurge(tasks: readonly PurgeTask[], run: PurgeRun): Promise<boolean> {
  let isDone = true;
  for (const task of tasks) isDone = (await runTask(task, run)) && isDone;
  return isDone;
}

async function runTask({ kind, find }: PurgeTask, { now, isOver, onStep, onFailure }: PurgeRun): Promise<boolean> {
  const leftOut = new Set<string>();
  while (!isOver()) {
    const units = await find([...leftOut], now);
    if (units.length === 0) return leftOut.size === 0;
    for (const { scope, remove } of units) {
      if (isOver()) break;
      if (leftOut.has(scope)) continue;
      try {
        const removed = await remove();
        if (removed === undefined) leftOut.add(scope);
        else onStep({ kind, scope, ...removed });
      } catch (error) {
        leftOut.add(scope);
        onFailure(kind, scope, error);
        // If the database itself fails, the next search throws and ends the run.
        break;
      }
    }
  }
  return false;
}
