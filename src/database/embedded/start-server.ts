import { setTimeout as delay } from "node:timers/promises";
import { clearLeftover } from "./clear-leftover.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { hasCode } from "./has-code.ts";
import { type OwnerLock, takeOwnerLock } from "./owner-lock.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";
import { restrictAccess } from "./restrict-access.ts";
import { type ServerChild, type ServerOptions, spawnServer } from "./spawn-server.ts";
import { stopServer } from "./stop-server.ts";
import type { Client } from "pg";

/** A server that accepts connections and that this process owns. */
export interface Server {
  readonly pid: number;
  /** Resolves when the server has ended, with its last output. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** The time to wait for backends of a killed server, or a competing start of the same server, in milliseconds. */
const patience = 15_000;

/** Starts the server and waits until it is ready. After a crash, this includes the recovery. */
export async function startServer(options: ServerOptions, signal: AbortSignal): Promise<Server> {
  let giveUpAt: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    await clearLeftover(options.cluster, options.sockets.forClients, options.log);
    await restrictAccess(options.cluster, options.runAs);
    giveUpAt ??= Date.now() + patience;
    const child = spawnServer(options);
    try {
      return await becomeOwner(child, options, signal);
    } catch (error) {
      if (child.pid !== undefined) await stopServer(child.pid, child.isRunning);
      if (!isPassing(error) || Date.now() > giveUpAt) throw error;
      await delay(200);
    }
  }
}

async function becomeOwner(child: ServerChild, options: ServerOptions, signal: AbortSignal): Promise<Server> {
  const { cluster, sockets, log } = options;
  const takeLock = () => takeOwnerLock({ host: sockets.forClients, port: 5432 }, cluster);
  const { pid, lock: firstLock } = await waitUntilReady(child, options, takeLock, signal);
  let lock = firstLock;
  await ensureDatabase(lock.client);
  signal.throwIfAborted();
  child.log.expectSessions = true;

  const stopping = new AbortController();
  const exited = child.exited.then((ending) => `${ending}\n${child.log.tail()}`);
  void exited.then(() => stopping.abort());
  /** Takes the lock again when it is lost: if a backend crashes, PostgreSQL ends all sessions, including ours, and continues. */
  const keepLock = async () => {
    await lock.lost;
    while (!stopping.signal.aborted) {
      await delay(100);
      const taken = stopping.signal.aborted ? undefined : await takeLock().catch(() => undefined);
      if (taken === undefined) continue;
      lock = taken;
      log("warn", "The embedded PostgreSQL server had ended all sessions");
      await lock.lost;
    }
  };
  void keepLock();

  return {
    pid,
    exited,
    async stop() {
      stopping.abort();
      child.log.expectSessions = false;
      await stopServer(pid, child.isRunning);
      await lock.client.end();
    },
  };
}

async function waitUntilReady(
  child: ServerChild,
  { cluster, log }: ServerOptions,
  takeLock: () => Promise<OwnerLock>,
  signal: AbortSignal,
): Promise<{ pid: number; lock: OwnerLock }> {
  let ending: string | undefined;
  void child.exited.then((how) => (ending = `${how}\n${child.log.tail()}`));
  const started = Date.now();
  let noticed = false;
  for (;;) {
    signal.throwIfAborted();
    if (ending !== undefined) throw explainStart(cluster, ending);
    const { pid } = child;
    const written = await readPostmasterPid(cluster);
    if (pid !== undefined && written?.pid === pid && written.status === "ready") {
      const lock = await takeLock().catch((error: unknown) => {
        // The file is from a killed server with the same process id (each start of a container counts from 1).
        if (hasCode(error, "ECONNREFUSED", "ENOENT", cannotConnectNow)) return undefined;
        throw error;
      });
      if (lock !== undefined) return { pid, lock };
    }
    if (!noticed && Date.now() > started + 5_000) {
      noticed = true;
      log("info", "The embedded PostgreSQL server is still starting; after a crash it first recovers from its log");
    }
    await delay(20);
  }
}

/** SQLSTATE cannot_connect_now: "the database system is starting up". */
const cannotConnectNow = "57P03";

function explainStart(cluster: string, ending: string): EmbeddedPostgresError {
  if (ending.includes("could not create any Unix-domain sockets")) {
    return new EmbeddedPostgresError("NO_SOCKET", `PostgreSQL cannot create its socket in ${cluster}: ${ending}`);
  }
  return explainStartFailure("starting the server", cluster, ending);
}

/**
 * Whether a retry may help: a competing process was first (which the next check finds), or backends of a killed server still
 * run.
 */
function isPassing(error: unknown): boolean {
  return (
    error instanceof EmbeddedPostgresError &&
    /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(error.message)
  );
}

/** Creates the service's database if it does not exist: after initdb, or after a first start that was killed before this step. */
async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = 'tenantry'");
  if (rowCount === 0) await client.query("create database tenantry");
}
