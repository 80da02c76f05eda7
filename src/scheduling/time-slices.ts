// All calls share one thread, so an org that sends many calls at once would have them all run before the next call of another org; the
// queues for connections do not help, because they do not share the processor. Therefore a call waits for a time slice before its
// message is parsed, and a long loop takes further slices. The next slice goes to the org that has had the least time, and there to the
// call that has waited longest, with one exception for large calls (waiting-calls.ts).
import { setImmediate as nextTurn } from "node:timers/promises";
import { type CallSlices, createCallSlices } from "./call-slices.ts";
import { createCoolDown } from "./cool-down.ts";
import { type Histogram, createHistogram, waitSeconds } from "../measures/histogram.ts";
import { slices } from "./settings.ts";
import { createShares } from "./shares.ts";
import { tooMany } from "./too-many.ts";
import { type WaitingCalls, type WaitingKind, createWaitingCalls } from "./waiting-calls.ts";

interface TimeSlicesOptions {
  readonly sliceMs?: number;
  readonly shortMs?: number;
  /** How many calls of one org may wait. */
  readonly maxWaiting?: number;
  readonly clock?: () => number;
  /** Runs a function after some milliseconds. */
  readonly after?: (run: () => void, ms: number) => unknown;
}

/**
 * How long calls run. Waiting for a slice costs a third of the time of a short call, so a short call runs at once, unless short calls
 * have taken long in this turn of the event loop. A large call is a long one whose message takes much memory when it is parsed.
 */
export type CallLength = "short" | "long" | "large";

interface SlicedCall {
  readonly orgId: string;
  readonly length: CallLength;
  readonly signal?: AbortSignal | undefined;
}

export interface TimeSlices {
  /**
   * Returns undefined if a call may begin now, and otherwise a promise of its slice. When its signal is aborted, the promise is
   * resolved at once.
   *
   * @throws ServiceError RATE_LIMITED when too many calls of the org wait.
   */
  take(call: SlicedCall): Promise<void> | undefined;
  /** Returns the further slices of a call that has begun. */
  ofCall(call: SlicedCall): CallSlices;
  /**
   * The slices of calls that hold what others wait for, such as a lock. Such a call goes on in the next turn of the event loop, before
   * other calls of its org, and also during its cool-down.
   */
  readonly ofHolders: CallSlices;
  /** How many calls wait for a slice. */
  waiting(): number;
  /** How long those waited that had to, in seconds. */
  readonly waits: Histogram;
}

export function createTimeSlices(options: TimeSlicesOptions = {}): TimeSlices {
  const { sliceMs, shortMs, maxWaiting } = { ...slices, ...options };
  const { clock = () => performance.now(), after = setTimeout } = options;
  const waiting = new Map<string, WaitingCalls>();
  const waits = createHistogram(waitSeconds);
  let count = 0;
  const shares = createShares(clock);
  const coolDown = createCoolDown(clock, after, () => schedule());
  /** Whether a long call has started in this turn of the event loop. Its work may follow only after others have asked to start. */
  let hasStarted = false;
  let isScheduled = false;
  /** Whether nothing but the call that started last has run since then. */
  let isMeasured = false;

  const msOfCalls = createTurnTimer(clock, () => {
    hasStarted = false;
    shares.stop();
  });
  const msOfShort = createTurnTimer(clock);

  const isOver = (): boolean => msOfCalls() >= sliceMs;

  const isOverForShort = (): boolean => {
    const ms = msOfShort();
    return ms >= shortMs && (coolDown.isShared() || ms >= shortMs * slices.unsharedFactor);
  };

  const schedule = (): void => {
    if (isScheduled || count === 0 || coolDown.haveAll(waiting.keys())) return;
    isScheduled = true;
    // Between two of these callbacks, a call runs until it waits for something. One call starts in any case: calls that go on after
    // they have waited could otherwise take up each turn of the event loop.
    setImmediate(startNext, true);
    for (let start = Math.min(count, slices.maxStarts); start > 1; start--) setImmediate(startNext, false);
    setImmediate(() => {
      endSlice();
      isScheduled = false;
      if (count === 0) shares.clear();
      schedule();
    });
  };

  const endSlice = (): void => {
    const { orgId, ms } = shares.stop();
    if (isMeasured && ms >= sliceMs) coolDown.start(orgId, ms);
  };

  const startNext = (isFirst: boolean): void => {
    endSlice();
    const isLate = isOver();
    if (count === 0 || (isLate && !isFirst)) return;
    const orgId = shares.least(waiting.keys(), coolDown.has);
    const calls = waiting.get(orgId);
    if (calls === undefined) return;
    const start = calls.next();
    forget(orgId, calls);
    isMeasured = true;
    shares.start(orgId);
    start?.();
  };

  const forget = (orgId: string, calls: WaitingCalls): void => {
    if (calls.count() === 0) waiting.delete(orgId);
    count--;
  };

  const wait = (orgId: string, kind: WaitingKind, signal?: AbortSignal): Promise<void> => {
    const calls = waiting.get(orgId) ?? createWaitingCalls(waits, clock);
    if (calls.count() === 0) shares.join(orgId);
    const started = calls.add(kind, signal, () => forget(orgId, calls));
    waiting.set(orgId, calls);
    count++;
    schedule();
    return started;
  };

  const nextOf = ({ orgId, length, signal }: SlicedCall, isOverNow: () => boolean): CallSlices["next"] => {
    const kind = length === "large" ? "begun" : "small";
    return () => {
      signal?.throwIfAborted();
      return isOverNow() ? wait(orgId, kind).then(() => signal?.throwIfAborted()) : undefined;
    };
  };

  const mayStart = (orgId: string, length: CallLength): boolean => {
    if (coolDown.has(orgId)) return false;
    if (length !== "short") return count === 0 && !isOver() && !hasStarted;
    // If the process is shared, a call does not overtake those of its org that wait.
    return !(waiting.has(orgId) && coolDown.isShared()) && !isOverForShort();
  };

  return {
    take({ orgId, length, signal }) {
      coolDown.see(orgId);
      if (mayStart(orgId, length)) {
        if (length === "short") return undefined;
        hasStarted = true;
        isMeasured = false;
        shares.start(orgId);
        return undefined;
      }
      if ((waiting.get(orgId)?.count() ?? 0) >= maxWaiting) throw tooMany("org", maxWaiting, "the processor");
      return wait(orgId, length === "large" ? "large" : "small", signal);
    },

    ofCall(call) {
      const nextOfLong = nextOf(call, isOver);
      return createCallSlices(call.length === "short" ? nextOf(call, isOverForShort) : nextOfLong, nextOfLong);
    },

    ofHolders: createCallSlices(
      () => (isOverForShort() ? nextTurn() : undefined),
      () => (isOver() ? nextTurn() : undefined),
    ),

    waiting: () => count,
    waits,
  };
}

/**
 * Returns a function that returns how long ago it was first called in this turn of the event loop; a negative number for that call.
 *
 * @param onEnd called at the end of the turn.
 */
function createTurnTimer(clock: () => number, onEnd?: () => void): () => number {
  let startMs: number | undefined;
  const end = (): void => {
    startMs = undefined;
    onEnd?.();
  };
  return () => {
    if (startMs !== undefined) return clock() - startMs;
    startMs = clock();
    setImmediate(end);
    return -1;
  };
}
