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
 * Ensures that no server runs on the cluster, or fails if one is in use. PostgreSQL outlives a Node process that is killed.
 * Such a server is stopped and not adopted, so that a running server is always a child of its owner.
 *
 * A server is in use while the process that started it is its parent, which means that this process is alive: an orphan gets
 * another parent immediately. The owner also holds a lock in the server (owner-lock.ts), which is decisive.
 *
 * @throws EmbeddedPostgresError IN_USE
 */
export async function clearLeftover(cluster: string, socketDirectory: string, log: Log): Promise<void> {
  const recorded = await readPostmasterPid(cluster);
  const server = recorded && (await findServerProcess(recorded.pid, cluster));
  if (recorded === undefined || server === undefined) {
    // No server on this machine, but a process in another container may have mounted the directory and use it.
    if (await answers(socketDirectory))
      throw inUse(cluster, "a PostgreSQL server that is not a process of this machine");
    await removeMisleadingLocks(cluster);
    return;
  }
  if (server.owner === undefined)
    throw inUse(cluster, `a PostgreSQL server (process ${server.pid}) that Tenantry did not start`);
  if (server.owner === server.parent) throw inUse(cluster, `another process (tenantry ${server.owner})`);

  const host = path.resolve(socketDirectory, recorded.socketDirectory ?? ".");
  const lock = await takeOwnerLock({ host, port: 5432 }, cluster).catch((error: unknown) => {
    if (error instanceof EmbeddedPostgresError) throw error;
    if (hasCode(error, invalidAuthorization)) {
      throw inUse(cluster, `a PostgreSQL server (process ${server.pid}) that Tenantry started as another user`);
    }
    // The server accepts no connections (it is recovering, stopping or hanging), so it is not in use.
    return undefined;
  });
  log("warn", `Stopping the PostgreSQL server (process ${server.pid}) that an earlier process left in ${cluster}`);
  try {
    await stopServer(server.pid, async () => (await findServerProcess(server.pid, cluster)) !== undefined);
  } finally {
    await lock?.client.end();
  }
  // Check again: the server may have left its files, and another process may have started one.
  await clearLeftover(cluster, socketDirectory, log);
}

/** SQLSTATE invalid_authorization_specification: the server does not accept connections of this user (restrict-access.ts). */
const invalidAuthorization = "28000";

function answers(socketDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path.join(socketDirectory, socketFile));
    // A server with a full backlog causes EAGAIN. Without a server, the socket is missing or refuses connections.
    socket.once("error", (error) => resolve(hasCode(error, "EAGAIN")));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
