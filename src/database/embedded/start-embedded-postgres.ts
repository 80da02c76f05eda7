/*
 * The embedded database, which runs if DATABASE_URL is not set: a PostgreSQL server with binaries from an npm package, as a
 * child process, on a Unix socket that accepts only the service's operating-system user and root.
 *
 *   locate-binaries → prepare-binaries   programs that the server's user can run
 *   run-as                               the server's user: PostgreSQL refuses to run as root
 *   inspect-cluster, create-cluster      the data directory
 *   supervise → start-server             runs a server on it, and restarts it when it ends
 *     clear-leftover                       stops the server of a killed process, and refuses a cluster in use
 *     restrict-access                      who can connect
 *     spawn-server, owner-lock             the child process and its lock
 */
import { realpath, chown } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { makeDirectory } from "../../files/make-directory.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { checkCluster, inspectCluster } from "./inspect-cluster.ts";
import { locateBinaries } from "./locate-binaries.ts";
import { type Binaries, prepareBinaries } from "./prepare-binaries.ts";
import { type RunAs, chooseRunAs, dataArgument } from "./run-as.ts";
import type { Log } from "./server-log.ts";
import { type SocketDirectory, socketInCluster, socketInTemporary } from "./socket-directory.ts";
import type { ServerOptions } from "./spawn-server.ts";
import { startServer } from "./start-server.ts";
import { type Supervised, supervise } from "./supervise.ts";
import { buildDirectory } from "./build-directory.ts";
import { runProgram } from "./run-program.ts";

export interface EmbeddedPostgresOptions {
  /** The directory of the database, for example `./data/postgres`. Created if it does not exist. */
  readonly directory: string;
  readonly log: Log;
  /** Additional settings of PostgreSQL, for example `{ fsync: "off" }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The npm package with the binaries. By default, the one for this platform. */
  readonly packageDirectory?: string;
  /** The directory for a copy of the binaries, if one is needed. By default in /var/cache for root, or else in ~/.cache. */
  readonly cacheDirectory?: string;
  /** Called when the server has ended and cannot be restarted, because another process has taken the cluster. */
  readonly onGiveUp?: (error: Error) => void;
}

export interface EmbeddedPostgres {
  /** Connection parameters for `pg`. `host` is the directory of the socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** "18.4" */
  readonly version: string;
  /** Ends all sessions and the server. Resolves when the server has ended. */
  stop(): Promise<void>;
}

/** Starts the database in `directory` and keeps it running until it is stopped. @throws EmbeddedPostgresError */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await start(options);
  } catch (error) {
    throw explainStartFailure("starting the embedded PostgreSQL", options.directory, error);
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, packageDirectory = locateBinaries() } = options;
  await makeDirectory(options.directory);
  const directory = await realpath(options.directory);
  // A subdirectory, so that `directory` can be a mounted volume: initdb's result is renamed into place, but a volume cannot be
  // renamed and is often not empty ("lost+found").
  const cluster = path.join(directory, "cluster");

  const found = await inspectCluster(cluster);
  const runAs = chooseRunAs(cluster, found);
  const binaries = await prepareBinaries(packageDirectory, runAs, [...cacheDirectories(options), directory]);
  if (found === undefined) {
    log("info", `Creating a database in ${cluster}`);
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
    server.log("warn", `A socket cannot be created in ${server.cluster}; using a temporary directory`);
    return launch(server, { onGiveUp }, socketInTemporary(server.runAs));
  }
}

/**
 * Returns the directories for a copy of the binaries. After these, the database's own directory is tried, which is always
 * writable.
 */
function cacheDirectories({ cacheDirectory }: EmbeddedPostgresOptions): string[] {
  if (cacheDirectory !== undefined) return [cacheDirectory];
  if (process.geteuid?.() === 0) return ["/var/cache/tenantry"];
  try {
    return [path.join(homedir(), ".cache", "tenantry")];
  } catch {
    return []; // a user without a name and without HOME
  }
}

/**
 * Creates an empty cluster with initdb, in a directory that only its owner can enter (mode 0700, set by initdb). The collation
 * is PostgreSQL's built-in code point order of UTF-8, so that indexes do not depend on the system's locales. Before each start
 * of the server, restrict-access.ts determines who can connect.
 */
async function createCluster(cluster: string, binaries: Binaries, runAs: RunAs): Promise<void> {
  await buildDirectory(cluster, async (temporary) => {
    if (runAs !== undefined) await chown(temporary, runAs.uid, runAs.gid);
    const args = [
      `--pgdata=${dataArgument(temporary, runAs)}`,
      "--username=tenantry",
      "--auth-local=reject",
      "--auth-host=reject",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--data-checksums",
      "--no-instructions",
    ];
    await runProgram(path.join(binaries.directory, "bin", "initdb"), args, { runAs, cwd: temporary });
  });
}
