import type pg from "pg";
import { type Histogram, createHistogram, observe, waitSeconds } from "../measures/histogram.ts";

/** What a pool of connections is doing. */
export interface PoolActivity {
  /** `reads` */
  readonly name: string;
  /** The most connections that it opens. */
  readonly limit: number;
  readonly open: () => number;
  readonly idle: () => number;
  /** How many statements and transactions wait for a connection. */
  readonly waiting: () => number;
  /** How many statements and transactions have ended: how often a connection was given back. */
  readonly ended: () => number;
  /** How long those waited that found no idle connection, in seconds; also for a new one to be opened, and also in vain. */
  readonly waits: Histogram;
}

/** A pool, with what it is doing. */
export interface WatchedPool {
  readonly pool: pg.Pool;
  readonly activity: PoolActivity;
}

export function watchPool(name: string, pool: pg.Pool): WatchedPool {
  let ended = 0;
  pool.on("release", () => ended++);
  const activity: PoolActivity = {
    name,
    limit: pool.options.max,
    open: () => pool.totalCount,
    idle: () => pool.idleCount,
    waiting: () => pool.waitingCount,
    ended: () => ended,
    waits: createHistogram(waitSeconds),
  };
  return { pool, activity };
}

/** Takes a connection, and notes how long that took if none was idle. */
export function takeConnection({ pool, activity }: WatchedPool): Promise<pg.PoolClient> {
  if (pool.idleCount > 0) return pool.connect();
  const startedAt = performance.now();
  return pool.connect().finally(() => observe(activity.waits, (performance.now() - startedAt) / 1_000));
}
