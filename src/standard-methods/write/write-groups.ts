// Writes that wait for the lock of one org share a transaction (`src/changes/write-group.ts`). Each waits for its own turn in the
// queue of writes. The one whose turn comes leads a group: when it has the lock, it runs the writes that wait then, in the order of
// their arrival, until there are none, or the group is large or old. The turn of a write that is already in a group passes.
import { type CallTime, inTransaction } from "../../changes/write-in-org.ts";
import type { OrgLocks } from "../../changes/write-locks.ts";
import {
  type Outcome,
  type WriteGroup,
  beginGroup,
  endGroup,
  extendLimits,
  inSavepoint,
  limitInGroup,
} from "../../changes/write-group.ts";
import type { Database } from "../../database/database.ts";
import { isDatabaseUnavailable, isRetryable, isTimeLimit } from "../../database/failure.ts";
import { required } from "../../errors/required.ts";
import { type Histogram, createHistogram, observe } from "../../measures/histogram.ts";
import type { OneReference } from "../../paths/parse-path.ts";
import { type ActiveSpan, activeSpan, within } from "../../tracing/active-span.ts";
import type { FairQueue } from "../../scheduling/fair-queue.ts";

interface GroupedCall extends CallTime {
  /** The org of the caller. Its writes are in groups of their own, so that it alone waits for them. */
  readonly orgId: string;
  readonly locks: GroupLocks;
}

/** What the writes of a group lock. Those that need a customer have groups of their own: others would wait for it with them. */
export type GroupLocks = OrgLocks & { readonly org: OneReference };

/** Returns the target by which the writes of an org queue. Writes that name the org, and writes that have its id, queue apart. */
export function queueTargetOf({ by, value }: OneReference): string {
  return by === "id" ? value : `name ${value}`;
}

export interface WriteGroups {
  /**
   * Runs a write in a transaction that it may share. A write may run again in another transaction if that one fails.
   *
   * @throws ServiceError RATE_LIMITED when too many writes wait. Rejects with the reason of the signal if it is aborted before the
   *   write has run.
   */
  run<Result>(call: GroupedCall, write: (group: WriteGroup) => Promise<Result>): Promise<Result>;
  /** How many writes the transactions had that were committed. */
  readonly sizes: Histogram;
}

export interface WriteGroupsOptions {
  readonly database: Database;
  readonly writeQueue: FairQueue;
  /** PostgreSQL keeps up to 64 savepoints of a transaction in memory that others look at. */
  readonly maxWrites?: number;
  /** After this time under the lock, no more writes begin. */
  readonly maxMs?: number;
}

interface Waiting {
  readonly call: CallTime;
  /** By `performance.now()`. */
  readonly calledAt: number;
  readonly write: (group: WriteGroup) => Promise<unknown>;
  /** Of the call whose write it is. */
  readonly span: ActiveSpan | undefined;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
}

export function createWriteGroups(options: WriteGroupsOptions): WriteGroups {
  const { database, writeQueue, maxWrites = 32, maxMs = 50 } = options;
  /** By caller's org and locks: the writes that are in no group, in the order of their arrival. */
  const lanes = new Map<string, { readonly waiting: Waiting[]; turns: number }>();
  const sizes = createHistogram([1, 2, 4, 8, 16]);

  const lead = async ({ locks, remainingMs }: GroupedCall, waiting: Waiting[]): Promise<void> => {
    // If the transaction failed, writes whose turn has passed may be left over.
    let left = await runGroup(locks, [], waiting, remainingMs);
    while (left.length > 0) left = await runGroup(locks, [...left], []);
  };

  /**
   * Runs a group: first the writes in `taken`, then those that wait.
   *
   * @param leaderMs returns the time that remains to the call whose turn it is. It bounds the wait for the lock if `taken` is empty.
   * @returns writes of `taken`, with those that were taken meanwhile, that have not run.
   */
  const runGroup = async (
    locks: GroupLocks,
    taken: Waiting[],
    waiting: Waiting[],
    leaderMs?: CallTime["remainingMs"],
  ): Promise<readonly Waiting[]> => {
    let outcomes: Outcome[] = [];
    try {
      await inTransaction(database, async (db) => {
        outcomes = [];
        const group = await beginGroup(db, locks, (taken[0]?.call.remainingMs ?? leaderMs)?.());
        const hasRoom = (): boolean =>
          outcomes.length < maxWrites && performance.now() - group.lockedAt < maxMs && !group.written.isLast;
        while (outcomes.length === 0 || hasRoom()) {
          const next = taken[outcomes.length] ?? waiting.shift();
          if (next === undefined) break;
          taken[outcomes.length] = next;
          outcomes.push(await runOne(group, next, outcomes.length === 0));
        }
        const remaining = taken.slice(0, outcomes.length).map(({ call }) => call.remainingMs());
        extendLimits(group, remaining);
        endGroup(group);
      });
    } catch (error) {
      return handleFailure(error, locks, taken, outcomes.length);
    }
    settleAll(taken, outcomes, sizes);
    return taken.slice(outcomes.length);
  };

  /** @param ran the number of writes that had run when the transaction failed. */
  const handleFailure = async (
    error: unknown,
    locks: GroupLocks,
    taken: readonly Waiting[],
    ran: number,
  ): Promise<readonly Waiting[]> => {
    const [first, ...others] = taken;
    if (first === undefined) throw error;
    // Until the first write has run, the time limits of the transaction are those of that write.
    if (ran === 0 && (isTimeLimit(error) || !isDatabaseUnavailable(error))) {
      first.reject(error);
      return others;
    }
    if (taken.length === 1 || (isDatabaseUnavailable(error) && !isRetryable(error))) {
      for (const { reject } of taken) reject(error);
      return [];
    }
    // It is not known which one is at fault.
    for (const each of taken) await runGroup(locks, [each], []);
    return [];
  };

  return {
    sizes,
    run: (call, write) =>
      new Promise((resolve, reject) => {
        const target = queueTargetOf(call.locks.org);
        const key = `${call.orgId} ${target}${call.locks.customer === true ? " and its customer" : ""}`;
        const lane = lanes.get(key) ?? { waiting: [], turns: 0 };
        lanes.set(key, lane);
        lane.turns++;
        const entry: Waiting = { call, calledAt: performance.now(), write, span: activeSpan(), resolve, reject };
        lane.waiting.push(entry);
        const leave = (reason: unknown): void => {
          const index = lane.waiting.indexOf(entry);
          if (index === -1) return;
          lane.waiting.splice(index, 1);
          reject(reason);
        };
        const takeTurn = async (): Promise<void> => {
          while (lane.waiting.includes(entry)) await lead(call, lane.waiting);
        };
        void writeQueue
          .run({ orgId: call.orgId, target, signal: call.signal }, takeTurn)
          .catch(leave)
          .finally(() => {
            if (--lane.turns === 0) lanes.delete(key);
          });
      }),
  };
}

/** Runs a write of a group. If the first one fails, so does the transaction, of which nothing else is left. */
async function runOne(group: WriteGroup, { call, calledAt, write, span }: Waiting, isFirst: boolean): Promise<Outcome> {
  const { aborted, reason } = call.signal();
  if (aborted) return { error: reason };
  const run = async (): Promise<unknown> => {
    group.calledAt = calledAt;
    limitInGroup(group, call.remainingMs());
    const result = await within(span, () => write(group));
    call.signal().throwIfAborted();
    return result;
  };
  return isFirst ? { result: await run() } : inSavepoint(group, run);
}

/** Settles the writes of a group that was committed. */
function settleAll(taken: readonly Waiting[], outcomes: readonly Outcome[], sizes: Histogram): void {
  if (outcomes.length > 0) observe(sizes, outcomes.length);
  for (const [index, outcome] of outcomes.entries()) {
    const { resolve, reject } = required(taken[index]);
    if ("result" in outcome) resolve(outcome.result as never);
    else reject(outcome.error);
  }
}
