import { setTimeout as delay } from "node:timers/promises";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Log } from "./server-log.ts";
import type { Server } from "./start-server.ts";

export interface Supervised {
  /** Stops the server, or its start, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Per minute. A server that ends more often is given up. */
const maximumRestarts = 5;

/** Starts a server, and restarts it whenever it ends unexpectedly, up to `maximumRestarts`. */
export async function supervise(
  start: (signal: AbortSignal) => Promise<Server>,
  log: Log,
  onGiveUp: (error: Error) => void,
): Promise<Supervised> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let server = await start(signal);

  const watch = async () => {
    let restarts: number[] = [];
    let ending: unknown = await server.exited;
    while (!signal.aborted) {
      restarts = [...restarts.filter((time) => time > Date.now() - 60_000), Date.now()];
      if (restarts.length > maximumRestarts || isInUse(ending)) {
        onGiveUp(
          new EmbeddedPostgresError("GAVE_UP", `The embedded PostgreSQL server keeps ending: ${describe(ending)}`, {
            cause: ending,
          }),
        );
        return;
      }
      log("error", "The embedded PostgreSQL server ended; restarting it", { ending: describe(ending) });
      try {
        server = await start(signal);
        log("info", "The embedded PostgreSQL server has restarted");
        // The supervisor was stopped during the start, and does not know this server yet.
        if (signal.aborted) await server.stop();
        ending = await server.exited;
      } catch (error) {
        ending = error;
        await delay(500, undefined, { signal }).catch(() => {});
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
