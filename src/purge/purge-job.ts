// The job that removes for good what is due: what was deleted and can be brought back no more, invitations and memberships
// that have expired. Every server runs it. Servers do not agree on who does what: each transaction takes the lock of what
// it removes and looks again, and passes over what another one has locked. A transaction removes a bounded number of rows,
// so that it holds a lock for milliseconds, and leaves a state from which any other goes on.
import type { Logger } from "pino";
import { createDueCustomersTask } from "./due-customers.ts";
import { isInOrg, keepsDeleted } from "../resource/definition.ts";
import { createDueTask } from "./due-in-orgs.ts";
import { createDueOrgsTask } from "./due-orgs.ts";
import { createExpiredInvitationsTask } from "./expired-invitations.ts";
import { createExpiredMembershipsTask } from "./expired-memberships.ts";
import { createSpentRoleBindingsTask } from "./spent-role-bindings.ts";
import type { PurgeKind, PurgeTaskDependencies } from "./purge-task.ts";
import { type PurgeStep, runPurge } from "./run-purge.ts";

export interface PurgeJobDependencies extends Omit<PurgeTaskDependencies, "rowsPerStep"> {
  readonly logger: Logger;
  /** How long to wait from the end of a run to the next one. */
  readonly intervalMs: number;
  readonly rowsPerStep?: number;
  /** After how long a run ends, and leaves what is due to the next one. */
  readonly maxRunMs?: number;
  /** Told after each transaction. */
  readonly onStep?: (step: PurgeStep) => void;
  /** Milliseconds that only go up. */
  readonly clock?: () => number;
}

/** What a run removed, or of invitations deleted. */
interface PurgeResult {
  readonly removed: Readonly<Record<PurgeKind, number>>;
  /** Whether nothing that is due was left to other servers or the next run. */
  readonly isDone: boolean;
}

export interface PurgeJob {
  /**
   * Runs once, after the run that is under way.
   *
   * @throws what the database throws when it cannot be asked what is due.
   */
  runOnce(): Promise<PurgeResult>;
  /** Stops after the transaction that is under way. */
  close(): Promise<void>;
}

const defaultRowsPerStep = 200;
const defaultMaxRunMs = 30_000;

export function createPurgeJob(dependencies: PurgeJobDependencies): PurgeJob {
  const { logger, intervalMs, maxRunMs = defaultMaxRunMs, clock = () => performance.now() } = dependencies;
  const tasks = createTasks({ ...dependencies, rowsPerStep: dependencies.rowsPerStep ?? defaultRowsPerStep });
  let isClosing = false;
  let isFailing = false;

  const run = async (): Promise<PurgeResult> => {
    const end = clock() + maxRunMs;
    const removed: Record<PurgeKind, number> = {};
    try {
      const isDone = await runPurge(tasks, {
        isOver: () => isClosing || clock() >= end,
        onStep(step) {
          if (step.resources > 0) removed[step.kind] = (removed[step.kind] ?? 0) + step.resources;
          dependencies.onStep?.(step);
        },
        onFailure: (kind, scope, err) => logger.error({ err, kind, scope }, "what is due could not be removed"),
      });
      return { removed, isDone };
    } finally {
      if (Object.keys(removed).length > 0) logger.info({ removed }, "removed what was due");
    }
  };

  /** One at a time. */
  let running: Promise<unknown> = Promise.resolve();
  const runOnce = (): Promise<PurgeResult> => {
    const result = running.then(run);
    running = result.catch(() => {});
    return result;
  };

  const runAndLog = async (): Promise<void> => {
    try {
      await runOnce();
      isFailing = false;
    } catch (err) {
      // Said once, until it works again.
      if (!isFailing) logger.error({ err }, "what is due could not be looked for; it is tried again");
      isFailing = true;
    }
  };

  let timer: NodeJS.Timeout;
  const schedule = (delayMs: number): void => {
    timer = setTimeout(() => void runAndLog().then(() => isClosing || schedule(intervalMs)), delayMs);
    timer.unref();
  };
  // Servers that were started together do not run together.
  schedule((intervalMs * (1 + Math.random())) / 2);

  return {
    runOnce,
    async close() {
      isClosing = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Those of a run, in its order: what is in orgs, then orgs, then customers. */
function createTasks(dependencies: PurgeTaskDependencies) {
  // What is below others goes before them.
  const deletable = dependencies.registry.inOrgs.filter(
    (definition) => isInOrg(definition) && keepsDeleted(definition),
  );
  return [
    createExpiredInvitationsTask(dependencies),
    createExpiredMembershipsTask(dependencies),
    createSpentRoleBindingsTask(dependencies),
    ...deletable.map((definition) => createDueTask(dependencies, definition)),
    createDueOrgsTask(dependencies),
    createDueCustomersTask(dependencies),
  ];
}
