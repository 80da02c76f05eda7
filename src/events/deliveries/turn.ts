import type { Lease, Position } from "./lease.ts";
import type { Claimed } from "./store.ts";

/** One run of a server for a webhook that it has claimed. */
export interface Turn {
  readonly webhook: Claimed;
  readonly lease: Lease;
  /** Aborted when the server ends. */
  readonly signal: AbortSignal;
  /** The clock of the database. */
  readonly clock: () => Date;
}

/** How far a turn has come. */
export interface Progress {
  /** The last entry that was delivered or given up. */
  readonly after: Position;
  /** When the receiver began to refuse the next request; null if it has not. */
  readonly failingSince: Date | null;
  /** Whether it has failed in this turn. */
  readonly hasFailed: boolean;
}

/** The end of a turn. */
export interface Stop {
  /** When the webhook is due again; undefined if that is recorded, or somebody else has the webhook. */
  readonly nextAttemptTime?: Date;
}

export const isStop = (step: Progress | Stop): step is Stop => !("after" in step);

/** How long a lease lasts from the beginning of a try. */
export const leaseMs = 60_000;

/** The limits of a batch (`NDJSON_BATCH`). */
export const batch = { count: 500, bytes: 1_048_576, waitMs: 5_000 };

const dayMs = 86_400_000;

/** How long a receiver may fail before what waits for it is given up. */
export const patienceMs = 3 * dayMs;

const wait = { shortestMs: 5_000, longestMs: 6 * 3_600_000 };

/** Returns when a receiver that fails is tried again: after half the time for which it has failed, so the waits grow by half each time. */
export function nextTryAfter(failingSince: Date, now: Date): Date {
  const ms = (now.getTime() - failingSince.getTime()) / 2;
  return new Date(now.getTime() + Math.min(Math.max(ms, wait.shortestMs), wait.longestMs));
}
