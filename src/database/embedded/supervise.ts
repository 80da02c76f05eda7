import { setTimeout as delay } from "node:timers/promises";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Log } from "./server-log.ts";
import type { Server } from "./start-server.ts";

export interface Supervised {
  /** Stops the server, or its start, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** A server that ran for so long starts again at once. */
const stableMs = 60_000;

/** The waits before a server that keeps ending is started again: at once, then longer and longer, for as long as it takes. */
const defaultWaits = { firstMs: 500, longestMs: 30_000 };

/**
 * Starts a server, and restarts it whenever it ends unexpectedly: its disk may be full, and will have room again. Gives up only
 * when another process has taken the cluster.
 */
export async function supervise(
  start: (signal: AbortSignal) => Promise<Server>,
  log: Log,
  onGiveUp: (error: Error) => void,
  { firstMs, longestMs } = defaultWaits,
): Promise<Supervised> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let server = await start(signal);

  const watch = async () => {
    let startedAt = Date.now();
    let attempts = 0;
    let ending: unknown = await server.exited;
    while (!signal.aborted) {
      if (isInUse(ending)) {
        onGiveUp(
          new EmbeddedPostgresError("GAVE_UP", `Another process has taken the database: ${describe(ending)}`, {
            cause: ending,
          }),
        );
        return;
      }
      attempts = Date.now() - startedAt > stableMs ? 1 : attempts + 1;
      const waitMs = attempts === 1 ? 0 : Math.min(firstMs * 2 ** (attempts - 2), longestMs);
      log("error", "The embedded PostgreSQL server ended; restarting it", { ending: describe(ending), waitMs });
      await delay(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      startedAt = Date.now();
      try {
        server = await start(signal);
        log("info", "The embedded PostgreSQL server has restarted");
        // The supervisor was stopped during the start, and does not know this server yet.
        if (signal.aborted) await server.stop();
        ending = await server.exited;
      } catch (error) {
        ending = error;
      }
    }
  };
  const watching = watch();

  return {
    async stop() {
      stopping.abort();
      await server.stop();
      await watching;
    },
  };
}

/** Whether another process has taken the cluster, in which case the server is not restarted. */
function isInUse(ending: unknown): boolean {
  return ending instanceof EmbeddedPostgresError && ending.reason === "IN_USE";
}

function describe(ending: unknown): string {
  return ending instanceof Error ? ending.message : String(ending);
}
