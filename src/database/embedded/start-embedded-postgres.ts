/*
 * The database that runs when no DATABASE_URL is set: a real PostgreSQL server, from binaries that npm brought, as our
 * child process, on a Unix socket that only its owner can reach.
 *
 *   locate-binaries → prepare-binaries   programs that the server's user can run
 *   run-as                               who that user is: PostgreSQL refuses root
 *   inspect-cluster, create-cluster      the data directory
 *   supervise → start-server             a server on it, again whenever it dies
 *     clear-leftover                       none other: stop what a killed process left, refuse what is in use
 *     spawn-server, owner-lock             our child, our lock
 */
import { mkdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";

import { createCluster } from "./create-cluster.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { explainFailure } from "./explain-failure.ts";
import { checkCluster, inspectCluster } from "./inspect-cluster.ts";
import { locateBinaries } from "./locate-binaries.ts";
import { prepareBinaries } from "./prepare-binaries.ts";
import { chooseRunAs } from "./run-as.ts";
import type { Log } from "./server-log.ts";
import { socketInCluster, socketInTemporary, type SocketDirectory } from "./socket-directory.ts";
import type { ServerOptions } from "./spawn-server.ts";
import { startServer } from "./start-server.ts";
import { supervise, type Supervised } from "./supervise.ts";

export interface EmbeddedPostgresOptions {
  /** Where the database lives, for example `./data/postgres`; made when missing. */
  readonly directory: string;
  readonly log: Log;
  /** More settings of PostgreSQL, for example `{ fsync: "off" }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The npm package with the binaries; found by default. */
  readonly packageDirectory?: string;
  /** Where to keep a copy of the binaries if one is needed; by default in /var/cache for root, else in ~/.cache. */
  readonly cacheDirectory?: string;
  /** Called when the server has died too often to be started again. */
  readonly onGiveUp?: (error: Error) => void;
}

export interface EmbeddedPostgres {
  /** For `pg`; `host` is the directory of the socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** "18.4" */
  readonly version: string;
  /** Ends all sessions and the server, and resolves when it has gone. */
  stop(): Promise<void>;
}

/** Starts the database in `directory` and keeps it running until it is stopped. Fails with an EmbeddedPostgresError. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await start(options);
  } catch (error) {
    throw explainFailure("starting the embedded PostgreSQL", options.directory, error);
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, packageDirectory = locateBinaries() } = options;
  await mkdir(options.directory, { recursive: true });
  const directory = await realpath(options.directory);
  // One level down, so that a mounted volume can be `directory`: initdb's result is renamed into place, and a volume
  // cannot be renamed and often is not empty ("lost+found").
  const cluster = path.join(directory, "cluster");

  const found = await inspectCluster(cluster);
  const runAs = chooseRunAs(cluster, found);
  const binaries = await prepareBinaries(packageDirectory, runAs, [...cacheDirectories(options), directory]);
  if (found === undefined) {
    log("info", `Making a database in ${cluster}`);
    await createCluster(cluster, binaries, runAs);
  }
  await checkCluster(cluster, binaries.version);

  const program = path.join(binaries.directory, "bin", "postgres");
  const { sockets, supervised } = await launch(
    { program, cluster, runAs, log, settings: options.settings ?? {} },
    options,
  );
  log("info", "The embedded PostgreSQL server is ready", { version: binaries.version, directory: cluster });

  let stopped: Promise<void> | undefined;
  return {
    connection: { host: sockets.forClients, port: 5432, user: "tenantry", database: "tenantry" },
    version: binaries.version,
    stop: () => (stopped ??= supervised.stop().finally(() => sockets.remove())),
  };
}

async function launch(
  server: Omit<ServerOptions, "sockets">,
  { onGiveUp = () => {} }: Pick<EmbeddedPostgresOptions, "onGiveUp">,
  sockets = socketInCluster(server.cluster),
): Promise<{ sockets: SocketDirectory; supervised: Supervised }> {
  try {
    const startOnce = (signal: AbortSignal) => startServer({ ...server, sockets }, signal);
    return { sockets, supervised: await supervise(startOnce, server.log, onGiveUp) };
  } catch (error) {
    sockets.remove();
    const noSocket = error instanceof EmbeddedPostgresError && error.reason === "NO_SOCKET";
    if (!noSocket || sockets.forServer !== ".") throw error;
    server.log("warn", `No socket can be made in ${server.cluster}; it goes to a temporary directory`);
    return launch(server, { onGiveUp }, socketInTemporary(server.runAs));
  }
}

/** Where a copy of the binaries may go, before the database's own directory, which can always be written to. */
function cacheDirectories({ cacheDirectory }: EmbeddedPostgresOptions): string[] {
  if (cacheDirectory !== undefined) return [cacheDirectory];
  if (process.geteuid?.() === 0) return ["/var/cache/tenantry"];
  try {
    return [path.join(homedir(), ".cache", "tenantry")];
  } catch {
    return []; // a user without a name and without HOME
  }
}
