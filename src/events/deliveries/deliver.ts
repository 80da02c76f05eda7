// Delivers what a webhook has to deliver, in the order of the log: each request until the receiver has accepted it, or has failed for three
// days. A server that ends, or loses the database, leaves a lease that ends and a cursor that has not moved, so another one sends the same
// request again.
import type { ChangeRow } from "../changes/store.ts";
import { type AttemptDependencies, type Group, createAttempt } from "./attempt.ts";
import { endOfLog, postponeInactive } from "./due.ts";
import { isSame } from "./lease.ts";
import { positionOf } from "./read-ahead.ts";
import { claim, endTry, trimDeliveries } from "./store.ts";
import { type Progress, type Stop, type TakeTurn, type Turn, batch, createTakeTurn, isStop } from "./turn.ts";

/** How many entries are read ahead that are sent alone. */
const readAhead = 100;

export function createDeliver(dependencies: AttemptDependencies): TakeTurn {
  const { writes } = dependencies.database;
  const run = createRun(dependencies);
  return createTakeTurn(writes, {
    table: "webhooks",
    claim,
    otherwise: postponeInactive,
    async run(webhook, turn) {
      const stop = await run({ ...turn, webhook });
      await trimDeliveries(writes, turn.lease.place, turn.clock());
      return stop;
    },
  });
}

/** Creates the function that delivers until all is delivered, a request fails or the turn is over. */
function createRun(dependencies: AttemptDependencies): (turn: Turn) => Promise<Stop> {
  const { database, log } = dependencies;
  const attempt = createAttempt(dependencies);

  const deliverPage = async (turn: Turn, groups: readonly Group[], from: Progress): Promise<Progress | Stop> => {
    let progress = from;
    for (const group of groups) {
      turn.signal.throwIfAborted();
      const step = await attempt(turn, group, progress);
      if (isStop(step)) return step;
      progress = step;
    }
    return progress;
  };

  /** Leaves out what the filter does not match, unless that is another one now. */
  const moveCursor = ({ webhook, lease }: Turn, { after: cursor, failingSince }: Progress): Promise<boolean> =>
    endTry(database.writes, lease, { cursor, failingSince, changedRevision: webhook.changed_revision });

  return async (turn) => {
    const { webhook, clock, endMs } = turn;
    const isBatch = webhook.format === "NDJSON_BATCH";
    const limit = isBatch ? batch.count : readAhead;
    const { cursor_time: time, cursor_revision: revision, cursor_position: position } = webhook;
    let progress: Progress = {
      after: { time, revision, position },
      failingSince: webhook.failing_since,
      hasFailed: false,
    };
    while (clock().getTime() < endMs) {
      const ahead = await log.next(webhook, progress.after, limit);
      if (ahead === undefined) {
        await moveCursor(turn, { ...progress, after: endOfLog(progress.after, webhook.noted_time) });
        return {};
      }
      const { rows, end, isPending } = ahead;
      const last = rows.at(-1);
      const due = isBatch && !isPending && rows.length < limit ? dueTimeOf(rows) : undefined;
      if (due !== undefined && due > clock()) return { nextAttemptTime: due };
      const step = await deliverPage(turn, isBatch ? together(rows) : rows.map((row): Group => [row]), progress);
      if (isStop(step)) return step;
      progress = step;
      // A batch was full before the last one, or there may be more.
      const isAllSent = last === undefined || isSame(progress.after, positionOf(last));
      if (!isAllSent || rows.length === limit || isSame(progress.after, end)) continue;
      progress = { ...progress, after: end };
      if (!(await moveCursor(turn, progress))) return {};
    }
    return { nextAttemptTime: clock() };
  };
}

function together([first, ...others]: readonly ChangeRow[]): readonly Group[] {
  return first === undefined ? [] : [[first, ...others]];
}

/** Returns when a batch that is not full is sent; undefined if there is nothing to send. */
function dueTimeOf([first]: readonly ChangeRow[]): Date | undefined {
  return first && new Date(first.time.getTime() + batch.waitMs);
}
