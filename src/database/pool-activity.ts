import type pg from "pg";
import { onFirstPrimary } from "./primary-client.ts";
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
  /** How many hosts there are, of which one is the primary. */
  readonly hosts: number;
  readonly freshness: Freshness;
  readonly activity: PoolActivity;
}

export function watchPool(name: string, pool: pg.Pool, hosts = 1, freshness = createFreshness()): WatchedPool {
  let ended = 0;
  pool.on("connect", (client) => freshness.note(client));
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
  return { pool, hosts, freshness, activity };
}

/** Takes a connection, and notes how long that took if none was idle. */
export async function takeConnection(watched: WatchedPool): Promise<pg.PoolClient> {
  const { pool, freshness, activity } = watched;
  if (pool.idleCount > 0) {
    const client = await pool.connect();
    if (freshness.isCurrent(client)) return client;
    // Those that are idle are all as old.
    client.release(true);
    return takeConnection(watched);
  }
  const startedAt = performance.now();
  try {
    return await takeNew(watched);
  } finally {
    observe(activity.waits, (performance.now() - startedAt) / 1_000);
  }
}

async function takeNew({ pool, hosts, freshness }: WatchedPool): Promise<pg.PoolClient> {
  for (;;) {
    const client = await onFirstPrimary(hosts, () => pool.connect());
    if (freshness.isCurrent(client)) return client;
    client.release(true);
  }
}

/** Which connections were opened before a server took no writes any more: another one may be the primary now. */
export interface Freshness {
  readonly note: (client: pg.PoolClient) => void;
  readonly isCurrent: (client: pg.PoolClient) => boolean;
  /** Lets all connections be opened again, once a second at most: a server may have become read-only. */
  readonly end: () => void;
  /** Lets all connections be opened again: another server is the primary. */
  readonly endNow: () => void;
}

/** A database that was set to read-only stays so: its connections are not opened again for each write. */
const endsEveryMs = 1_000;

export function createFreshness(): Freshness {
  const epochs = new WeakMap<pg.PoolClient, number>();
  let epoch = 0;
  let endedAt = -Infinity;
  const endNow = (): void => {
    endedAt = performance.now();
    epoch++;
  };
  return {
    note: (client) => void epochs.set(client, epoch),
    isCurrent: (client) => epochs.get(client) === epoch,
    end: () => void (performance.now() < endedAt + endsEveryMs || endNow()),
    endNow,
  };
}
