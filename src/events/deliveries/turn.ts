// A turn: one run of a server for a row that it has claimed, for some seconds at most.
import type { Kysely } from "kysely";
import { randomUUID } from "node:crypto";
import type { Schema } from "../../database/schema.ts";
import { type DuePlace, type Lease, type LeasedTable, type Position, release, wait } from "./lease.ts";
import type { Claimed } from "./store.ts";

/** What each turn has. */
export interface HeldTurn {
  readonly lease: Lease;
  /** Aborted when the server ends. */
  readonly signal: AbortSignal;
  /** The clock of the database. */
  readonly clock: () => Date;
  /** When others get their turn, by that clock. */
  readonly endMs: number;
}

/** That of a webhook. */
export interface Turn extends HeldTurn {
  readonly webhook: Claimed;
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
  /** When the row is due again; undefined if that is recorded, or somebody else has the row. */
  readonly nextAttemptTime?: Date;
}

export const isStop = (step: Progress | Stop): step is Stop => !("after" in step);

/** How long a lease lasts from the beginning of a try. */
export const leaseMs = 60_000;

/** How long a server delivers of one row before others get their turn. */
const turnMs = 10_000;

/** When a row is tried again that could not be read. */
const retryMs = 30_000;

/** Delivers of one row, for some seconds at most. Rejects when the database fails; what is not recorded is sent again. */
export type TakeTurn = (place: DuePlace, signal: AbortSignal) => Promise<void>;

interface TurnOptions<Row> {
  readonly table: LeasedTable;
  /** Returns undefined if the row is not due, or somebody else has it. */
  readonly claim: (
    db: Kysely<Schema>,
    lease: Lease,
    times: { readonly now: Date; readonly end: Date },
  ) => Promise<Row | undefined>;
  /** What is done instead of a run if it could not be claimed. */
  readonly otherwise?: (db: Kysely<Schema>, lease: Lease, now: Date) => Promise<void>;
  readonly run: (row: Row, turn: HeldTurn) => Promise<Stop>;
}

export function createTakeTurn<Row>(
  writes: Kysely<Schema>,
  { table, claim, otherwise, run }: TurnOptions<Row>,
): TakeTurn {
  return async (place, signal) => {
    const readAtMs = performance.now();
    const clock = (): Date => new Date(place.nowMs + performance.now() - readAtMs);
    const lease = { place, id: randomUUID() };
    const row = await claim(writes, lease, { now: clock(), end: new Date(clock().getTime() + leaseMs) });
    if (row === undefined) return otherwise?.(writes, lease, clock());
    try {
      const { nextAttemptTime } = await run(row, { lease, signal, clock, endMs: clock().getTime() + turnMs });
      await release(writes, table, lease, nextAttemptTime);
    } catch (error) {
      // It would fail again and again, and take the turns of others.
      await release(writes, table, lease, signal.aborted ? undefined : new Date(clock().getTime() + retryMs));
      throw error;
    }
  };
}

/** The limits of a batch (`NDJSON_BATCH`). */
export const batch = { count: 500, bytes: 1_048_576, waitMs: 5_000 };

const dayMs = 86_400_000;

/** How long a receiver may fail before what waits for it is given up. */
export const patienceMs = 3 * dayMs;

/** Returns when a receiver that fails is tried again: after half the time for which it has failed, so the waits grow by half each time. */
export function nextTryAfter(failingSince: Date, now: Date): Date {
  const ms = (now.getTime() - failingSince.getTime()) / 2;
  return new Date(now.getTime() + Math.min(Math.max(ms, wait.shortestMs), wait.longestMs));
}
