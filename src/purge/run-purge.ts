import type { PurgeKind, PurgeTask, Removed } from "./purge-task.ts";

/** What a transaction of the job did, and where. */
export interface PurgeStep extends Removed {
  readonly kind: PurgeKind;
  /** The id of the org or customer. */
  readonly scope: string;
}

export interface PurgeRun {
  /** Whether to end; asked between transactions. */
  readonly isOver: () => boolean;
  /** Told after each transaction. */
  readonly onStep: (step: PurgeStep) => void;
  /** Told when something could not be removed. It is left for the next run; the rest goes on. */
  readonly onFailure: (kind: PurgeKind, scope: string, error: unknown) => void;
}

/**
 * Goes through all that is due.
 *
 * @returns whether it came to the end and left nothing to others or for later.
 * @throws what the database throws when it cannot be asked what is due.
 */
export async function runPurge(tasks: readonly PurgeTask[], run: PurgeRun): Promise<boolean> {
  let isDone = true;
  for (const task of tasks) isDone = (await runTask(task, run)) && isDone;
  return isDone;
}

async function runTask({ kind, find }: PurgeTask, { isOver, onStep, onFailure }: PurgeRun): Promise<boolean> {
  const leftOut = new Set<string>();
  while (!isOver()) {
    const units = await find([...leftOut]);
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
        // When it is the database that fails, looking for more says so and ends the run.
        break;
      }
    }
  }
  return false;
}
