// A connection whose server has gone without a word looks open for a quarter of an hour, and all that wait for it wait as long.
// So each statement has a deadline, beyond the server's own `statement_timeout`. A connection that misses it is discarded, with
// all others that have not answered since the statement was sent.
import type pg from "pg";
import { waitAtMost } from "../timers/wait-at-most.ts";

/** How long connections may take to close, and to answer a statement when another connection is found silent. */
const graceMs = 5_000;

export interface ConnectionWatch {
  /** Watches the connections of a pool, once. Pools that share a watch discard their idle connections together. */
  add(pool: pg.Pool): void;
  /** Runs a statement on a watched connection. @throws Error `Connection terminated ...` when there is no answer within the deadline. */
  run<Result>(client: pg.PoolClient, deadlineMs: number, statement: () => Promise<Result>): Promise<Result>;
  /** Discards all connections: idle ones at once, those that run a statement if it has no answer soon. */
  discardAll(): void;
  /** Closes the pools, without waiting for silent servers. */
  close(): Promise<void>;
}

/** When a connection last answered, by `performance.now()`, and whether it is to answer now. */
interface Activity {
  answeredAt: number;
  isRunning: boolean;
}

export function createConnectionWatch(runningGraceMs = graceMs): ConnectionWatch {
  const pools: pg.Pool[] = [];
  const connections = new Map<pg.PoolClient, Activity>();
  let onEmpty = (): void => {};

  const activityOf = (client: pg.PoolClient): Activity => {
    const known = connections.get(client) ?? { answeredAt: performance.now(), isRunning: false };
    connections.set(client, known);
    return known;
  };

  const discardSilentSince = (time: number): void => {
    for (const [client, activity] of connections) {
      if (activity.answeredAt > time) continue;
      if (!activity.isRunning) discard(client);
      else setTimeout(() => activity.answeredAt <= time && discard(client), runningGraceMs).unref();
    }
  };

  return {
    add(pool) {
      if (pools.includes(pool)) return;
      pools.push(pool);
      pool.on("connect", activityOf);
      pool.on("remove", (client) => {
        connections.delete(client);
        if (connections.size === 0) onEmpty();
      });
    },

    async run(client, deadlineMs, statement) {
      const activity = activityOf(client);
      const startedAt = performance.now();
      const deadline = setTimeout(() => {
        discard(client);
        discardSilentSince(startedAt);
      }, deadlineMs);
      activity.isRunning = true;
      try {
        return await statement();
      } finally {
        clearTimeout(deadline);
        activity.isRunning = false;
        activity.answeredAt = performance.now();
      }
    },

    discardAll: () => discardSilentSince(performance.now()),

    async close() {
      const ended = Promise.all(pools.map((pool) => pool.end()));
      // A pool has ended when its connections are told to close. Those of a silent server stay open, and with them the process.
      const closed = ended.then(async () => {
        if (connections.size > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
      });
      await waitAtMost(graceMs, closed);
      for (const client of connections.keys()) discard(client);
      await ended;
    },
  };
}

/** Ends a connection without waiting for its server. */
function discard(client: pg.PoolClient): void {
  // The types of pg hide the connection of a client of a pool.
  const { connection } = client as unknown as pg.Client;
  connection.stream.destroy(new Error("Connection terminated: the database server does not answer"));
}
