import net from "node:net";
import path from "node:path";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";
import { inUse, takeOwnerLock } from "./owner-lock.ts";
import { readPostmasterPid, removeMisleadingLocks } from "./postmaster-pid.ts";
import type { Log } from "./server-log.ts";
import { findServerProcess } from "./server-process.ts";
import { socketFile } from "./socket-directory.ts";
import { stopServer } from "./stop-server.ts";

/**
 * Leaves the cluster without a server, or refuses when one is in use. PostgreSQL outlives a Node that is killed; such a
 * server is stopped, not taken over, so that a running server is always the child of its owner.
 *
 * A server is in use while the process that started it lives, which is while that one is its parent: an orphan gets
 * another parent at once. Its owner also holds a lock in it (owner-lock.ts), which has the last word.
 */
export async function clearLeftover(cluster: string, socketDirectory: string, log: Log): Promise<void> {
  const recorded = await readPostmasterPid(cluster);
  const server = recorded && (await findServerProcess(recorded.pid, cluster));
  if (recorded === undefined || server === undefined) {
    // No process of this machine; but one of another container may have the directory mounted and be using it.
    if (await answers(socketDirectory)) throw inUse(cluster, "a PostgreSQL server that is no process of this machine");
    await removeMisleadingLocks(cluster);
    return;
  }
  if (server.owner === undefined) throw inUse(cluster, `a PostgreSQL server (process ${server.pid}) of someone else`);
  if (server.owner === server.parent) throw inUse(cluster, `another process (tenantry ${server.owner})`);

  const host = path.resolve(socketDirectory, recorded.socketDirectory ?? ".");
  const lock = await takeOwnerLock({ host, port: 5432 }, cluster).catch((error: unknown) => {
    if (error instanceof EmbeddedPostgresError) throw error;
    // It does not let anyone in (still recovering, stopping, hanging), so nobody is using it.
    return undefined;
  });
  log("warn", `Stopping the PostgreSQL server (process ${server.pid}) that an earlier process left in ${cluster}`);
  try {
    await stopServer(server.pid, async () => (await findServerProcess(server.pid, cluster)) !== undefined);
  } finally {
    await lock?.client.end();
  }
  // Look again: it may have left its files, and another start may have been quicker than this one.
  await clearLeftover(cluster, socketDirectory, log);
}

function answers(socketDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path.join(socketDirectory, socketFile));
    // A server that is busy accepting others says EAGAIN; without one the file is missing or refuses.
    socket.once("error", (error) => resolve(hasCode(error, "EAGAIN")));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
