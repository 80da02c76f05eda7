// Orgs share what the server has few of, such as database connections. The writes of one org wait for its lock, each on a connection, so
// one org could take all connections. Therefore calls queue here before they take one: the calls of an org in the order of their
// arrival, and the orgs in rotation.
import { type Histogram, createHistogram, observe, waitSeconds } from "../measures/histogram.ts";
import { queues } from "./settings.ts";
import { tooMany } from "./too-many.ts";

export interface FairQueueOptions {
  /** How many calls run at once. */
  readonly capacity: number;
  /** How many calls on one target run at once. */
  readonly perTarget: number;
  /** How many calls of one org run at once. Default: a quarter of the capacity stays free of it. */
  readonly perOrg?: number;
  /** How many calls of one org may wait. */
  readonly maxWaiting?: number;
  /** What the error for too many waiting calls says that they wait for. Default: the database. */
  readonly waitsFor?: string;
  /** Whose waiting calls that error counts. In a queue of `caller`, the `orgId` of a call is the id of its caller. */
  readonly of?: "org" | "caller";
}

export interface QueuedCall {
  readonly orgId: string;
  /** What the call locks; undefined if calls do not wait for each other. */
  readonly target: string | undefined;
  readonly signal: () => AbortSignal;
}

export interface FairQueue {
  /**
   * Runs a call when there is room for it.
   *
   * @throws ServiceError RATE_LIMITED when too many calls of the org wait. Rejects with the reason of the signal if it is aborted
   *   first; then the call does not run.
   */
  run<Result>(call: QueuedCall, run: () => Promise<Result>): Promise<Result>;
  readonly activity: QueueActivity;
}

export interface QueueActivity {
  readonly running: () => number;
  readonly waiting: () => number;
  /** How long those calls waited that had to, in seconds. */
  readonly waits: Histogram;
}

interface Waiting {
  readonly target: string | undefined;
  readonly start: () => void;
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { capacity, perTarget, maxWaiting = queues.maxWaiting, waitsFor = "the database", of = "org" } = options;
  const { perOrg = Math.max(1, capacity - Math.ceil(capacity * queues.freeOfOrg)) } = options;
  const ofOrgs = new Map<string, number>();
  const ofTargets = new Map<string, number>();
  /** By org, in the rotation of the orgs. */
  const waiting = new Map<string, Waiting[]>();
  const waits = createHistogram(waitSeconds);
  let running = 0;

  const hasRoomFor = (orgId: string): boolean => running < capacity && (ofOrgs.get(orgId) ?? 0) < perOrg;

  const isFree = (target: string | undefined): boolean =>
    target === undefined || (ofTargets.get(target) ?? 0) < perTarget;

  const count = (orgId: string, target: string | undefined, change: 1 | -1): void => {
    running += change;
    add(ofOrgs, orgId, change);
    if (target !== undefined) add(ofTargets, target, change);
  };

  const startNext = (): boolean => {
    for (const [orgId, calls] of waiting) {
      if (!hasRoomFor(orgId)) continue;
      const index = calls.findIndex(({ target }) => isFree(target));
      const [next] = index === -1 ? [] : calls.splice(index, 1);
      if (next === undefined) continue;
      waiting.delete(orgId);
      if (calls.length > 0) waiting.set(orgId, calls);
      next.start();
      return true;
    }
    return false;
  };

  const wait = ({ orgId, target, signal }: QueuedCall): Promise<void> => {
    const calls = waiting.get(orgId) ?? [];
    if (calls.length >= maxWaiting) throw tooMany(of, maxWaiting, waitsFor);
    const aborted = signal();
    aborted.throwIfAborted();
    waiting.set(orgId, calls);
    return enter(calls, target, aborted, {
      onStart: () => count(orgId, target, 1),
      onLeave: () => calls.length === 0 && waiting.delete(orgId),
    });
  };

  return {
    async run(call, run) {
      const { orgId, target } = call;
      // If there is room for this call, there is none for any that waits: it overtakes nobody.
      if (hasRoomFor(orgId) && isFree(target)) count(orgId, target, 1);
      else {
        const since = performance.now();
        await wait(call);
        observe(waits, (performance.now() - since) / 1_000);
      }
      try {
        return await run();
      } finally {
        count(orgId, target, -1);
        while (startNext());
      }
    },

    activity: {
      running: () => running,
      waiting: () => [...waiting.values()].reduce((sum, { length }) => sum + length, 0),
      waits,
    },
  };
}

/** Adds a call to those that wait, and returns a promise of its start. It leaves when its signal is aborted, and the promise rejects. */
function enter(
  calls: Waiting[],
  target: string | undefined,
  aborted: AbortSignal,
  { onStart, onLeave }: { readonly onStart: () => void; readonly onLeave: () => void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      calls.splice(calls.indexOf(entry), 1);
      onLeave();
      reject(aborted.reason as Error);
    };
    const entry: Waiting = {
      target,
      start() {
        aborted.removeEventListener("abort", leave);
        onStart();
        resolve();
      },
    };
    calls.push(entry);
    aborted.addEventListener("abort", leave, { once: true });
  });
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
