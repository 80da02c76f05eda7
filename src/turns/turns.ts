// All calls share one thread. The queues for connections do not help where a call needs the processor: an org that sends many such
// calls at once would have them all run before the next call of another org. So each call waits for its turn before its message is
// parsed, and a long loop takes another turn now and then: the org that has had the least time first, and its calls in their order,
// except that of large ones, one ends before the next begins.
import { setImmediate as nextTurn } from "node:timers/promises";
import { ServiceError } from "../errors/service-error.ts";
import { type QueueName, type WaitingCalls, createWaitingCalls } from "./waiting-calls.ts";

interface TurnsOptions {
  /** How long calls run in one turn of the event loop. Further ones wait for the next. */
  readonly maxMs?: number;
  /** How long short calls run in one turn of the event loop before further ones wait for a turn. */
  readonly maxShortMs?: number;
  /** How many turns calls of one org may wait for at once. */
  readonly maxWaiting?: number;
  readonly clock?: () => number;
  /** Runs a function after some milliseconds. */
  readonly after?: (run: () => void, ms: number) => unknown;
}

/**
 * A turn costs a third of the time of a short call. So such a call runs at once, unless short calls have taken long in this turn of
 * the event loop. A large call is a long one whose message takes much memory when it is parsed.
 */
export type CallLength = "short" | "long" | "large";

export interface Turns extends Renewals {
  /**
   * Returns undefined if a call of the org may start now, and otherwise a promise of its turn.
   *
   * @param signal of the call. When it is aborted, the promise is resolved at once.
   * @throws ServiceError RATE_LIMITED when too many calls of the org wait.
   */
  take(orgId: string, length?: CallLength, signal?: AbortSignal): Promise<void> | undefined;
  /**
   * For calls that hold what others wait for, such as a lock. They go on in the next turn of the event loop, before other calls of
   * their org, and while it rests.
   */
  readonly ofHolders: Renewals;
}

export interface Renewals {
  /**
   * Returns undefined if a call that has its turn may run on, and otherwise a promise of its next one. Costs so little that loops
   * can call it for each item.
   */
  renew(orgId: string, length?: CallLength): Promise<void> | undefined;
}

/** Long beside what it costs to wait for a turn. */
const defaultMaxMs = 2;
/** More than the calls take that a busy client has at once, of which none then waits. */
const defaultMaxShortMs = 4;
const defaultMaxWaiting = 2_000;
const maxRestMs = 200;
/** Short calls of an org that has the process to itself run for so many times as long. */
const unshared = 5;
/** Two orgs share the process for so long after calls of both. */
const sharedMs = 200;
/** How many calls may start in one turn of the event loop. */
const maxStarts = 64;
const retryAfterMs = 1_000;

export function createTurns(options: TurnsOptions = {}): Turns {
  const { maxMs = defaultMaxMs, maxShortMs = defaultMaxShortMs, maxWaiting = defaultMaxWaiting } = options;
  const { clock = () => performance.now(), after = setTimeout } = options;
  const waiting = new Map<string, WaitingCalls>();
  let count = 0;
  const shares = createShares(clock);
  const rests = createRests(clock, after, () => schedule());
  let startMs: number | undefined;
  /** When the first short call ran in this turn of the event loop. */
  let shortStartMs: number | undefined;
  /** Whether a call has started in this turn of the event loop. What it does may come only after others were asked to start. */
  let hasStarted = false;
  let isScheduled = false;
  /** Whether nothing but the call that started last has run since then. */
  let isMeasured = false;

  const isOver = (): boolean => {
    if (startMs !== undefined) return clock() - startMs >= maxMs;
    startMs = clock();
    setImmediate(() => {
      startMs = undefined;
      hasStarted = false;
      shares.stop();
    });
    return false;
  };

  const isOverForShort = (): boolean => {
    if (shortStartMs !== undefined) {
      const ms = clock() - shortStartMs;
      return ms >= maxShortMs && (rests.isShared() || ms >= maxShortMs * unshared);
    }
    shortStartMs = clock();
    setImmediate(() => (shortStartMs = undefined));
    return false;
  };

  const isTurnOver = (length: CallLength = "long"): boolean => (length === "short" ? isOverForShort() : isOver());

  const schedule = (): void => {
    if (isScheduled || count === 0 || rests.haveAll(waiting.keys())) return;
    isScheduled = true;
    // What a call does until it waits for something runs between two of these. One starts in any case: what runs on after it has
    // waited may take the whole of each turn of the event loop.
    setImmediate(startNext, true);
    for (let start = Math.min(count, maxStarts); start > 1; start--) setImmediate(startNext, false);
    setImmediate(() => {
      endTurn();
      isScheduled = false;
      if (count === 0) shares.clear();
      schedule();
    });
  };

  const endTurn = (): void => {
    const { orgId, ms } = shares.stop();
    if (isMeasured && ms >= maxMs) rests.start(orgId, ms);
  };

  const startNext = (isFirst: boolean): void => {
    endTurn();
    const isLate = isOver();
    if (count === 0 || (isLate && !isFirst)) return;
    const orgId = shares.least(waiting.keys(), rests.has);
    const calls = waiting.get(orgId);
    if (calls === undefined) return;
    const start = calls.next();
    if (calls.count() === 0) waiting.delete(orgId);
    count--;
    isMeasured = true;
    shares.start(orgId);
    start?.();
  };

  const wait = (orgId: string, queue: QueueName, signal?: AbortSignal): Promise<void> => {
    const calls = waiting.get(orgId) ?? createWaitingCalls();
    if (calls.count() === 0) shares.join(orgId);
    return new Promise((resolve) => {
      const leave = (): void => {
        calls.remove(queue, start);
        if (calls.count() === 0) waiting.delete(orgId);
        count--;
        resolve();
      };
      const start = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      calls.add(queue, start);
      waiting.set(orgId, calls);
      count++;
      schedule();
    });
  };

  const mayStart = (orgId: string, length: CallLength): boolean => {
    if (length !== "short") return count === 0 && !rests.has(orgId) && !isOver() && !hasStarted;
    // Behind the calls of its org, if others wait for them.
    return !(waiting.has(orgId) && rests.isShared()) && !rests.has(orgId) && !isOverForShort();
  };

  return {
    take(orgId, length = "long", signal) {
      rests.see(orgId);
      if (mayStart(orgId, length)) {
        if (length === "short") return undefined;
        hasStarted = true;
        isMeasured = false;
        shares.start(orgId);
        return undefined;
      }
      if ((waiting.get(orgId)?.count() ?? 0) >= maxWaiting) throw tooMany(maxWaiting);
      return wait(orgId, length === "large" ? "large" : "small", signal);
    },

    renew: (orgId, length) => (isTurnOver(length) ? wait(orgId, length === "large" ? "begun" : "small") : undefined),

    ofHolders: { renew: (_orgId, length) => (isTurnOver(length) ? nextTurn() : undefined) },
  };
}

/**
 * A turn may take long, since a decision or the parsing of a message is not interrupted. A call of another org needs several turns of
 * the event loop, and would wait for such a turn in each of them. So an org rests after a turn that was used up for as long as it
 * took, unless it has the process to itself.
 */
function createRests(clock: () => number, after: Required<TurnsOptions>["after"], onEnd: () => void) {
  const resting = new Set<string>();
  let last = "";
  /** When a call came that was not of the same org as the one before. */
  let otherMs = Number.NEGATIVE_INFINITY;
  const isShared = (): boolean => clock() - otherMs < sharedMs;

  return {
    has: (orgId: string): boolean => resting.has(orgId),
    haveAll(orgIds: Iterable<string>): boolean {
      if (resting.size === 0) return false;
      for (const orgId of orgIds) if (!resting.has(orgId)) return false;
      return true;
    },
    isShared,
    see(orgId: string): void {
      if (orgId === last) return;
      if (last !== "") otherMs = clock();
      last = orgId;
    },
    start(orgId: string, ms: number): void {
      if (!isShared() || resting.has(orgId)) return;
      resting.add(orgId);
      const end = (): void => {
        resting.delete(orgId);
        onEnd();
      };
      after(end, Math.min(ms, maxRestMs));
    },
  };
}

/** Counts the time that the calls of each org take, so that the org that has had the least comes next. */
function createShares(clock: () => number) {
  const taken = new Map<string, number>();
  /** What the org whose call started last had taken: an org that has not waited has had as much, and saves nothing up. */
  let base = 0;
  let running: { readonly orgId: string; readonly sinceMs: number } | undefined;
  const takenBy = (orgId: string): number => taken.get(orgId) ?? 0;

  return {
    join(orgId: string): void {
      taken.set(orgId, Math.max(takenBy(orgId), base));
    },
    start(orgId: string): void {
      base = Math.max(base, takenBy(orgId));
      running = { orgId, sinceMs: clock() };
    },
    /** Returns how long the call took that started last. */
    stop(): { readonly orgId: string; readonly ms: number } {
      if (running === undefined) return { orgId: "", ms: 0 };
      const { orgId, sinceMs } = running;
      const ms = clock() - sinceMs;
      taken.set(orgId, Math.max(takenBy(orgId), base) + ms);
      running = undefined;
      return { orgId, ms };
    },
    /** Returns the org that has taken the least, the first of several; an empty text if all are left out. */
    least(orgIds: Iterable<string>, isLeftOut: (orgId: string) => boolean): string {
      let [found, least] = ["", Number.POSITIVE_INFINITY];
      for (const orgId of orgIds) {
        if (takenBy(orgId) < least && !isLeftOut(orgId)) [found, least] = [orgId, takenBy(orgId)];
      }
      return found;
    },
    clear(): void {
      taken.clear();
      base = 0;
    },
  };
}

function tooMany(limit: number): ServiceError {
  const description = `more than ${limit} calls of the org wait for the processor`;
  return new ServiceError("RATE_LIMITED", `${description}; try again in ${retryAfterMs / 1_000} s`, {
    retryAfterMs,
    quotas: [{ subject: "org", description }],
  });
}
