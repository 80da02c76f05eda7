import path from "node:path";

import { readPostmasterPid } from "./postmaster-pid.ts";
import { findServerProcess } from "./server-process.ts";
import type { EmbeddedPostgres } from "./start-embedded-postgres.ts";

/**
 * Finds the embedded database of a service that runs, for a command that needs it for a moment. A server whose service was killed is
 * not one: the next start stops it.
 *
 * @param directory as of `startEmbeddedPostgres`.
 * @returns how to connect to it; undefined if none runs in the directory.
 */
export async function findRunningServer(directory: string): Promise<EmbeddedPostgres["connection"] | undefined> {
  const cluster = path.join(path.resolve(directory), "cluster");
  const recorded = await readPostmasterPid(cluster);
  const server = recorded && (await findServerProcess(recorded.pid, cluster));
  if (server?.owner === undefined || server.owner !== server.parent) return undefined;
  return {
    host: path.resolve(cluster, recorded?.socketDirectory ?? "."),
    port: 5432,
    user: "tenantry",
    database: "tenantry",
  };
}
