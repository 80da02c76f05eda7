// Two PostgreSQL servers: a primary, and a standby that confirms each commit. A failover kills the primary, promotes the standby and
// makes a new one of the other.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type SilentProxy, startSilentProxy } from "../../test/support/silent-proxy.ts";
import type { Proxy } from "./haproxy.ts";
import { type Program, type Workplace, killTree, makeFolder } from "./processes.ts";
import { askDatabase } from "./ask-database.ts";
import { removeSharedMemory, sharedMemoryOf } from "./shared-memory.ts";
import { waitUntil } from "./wait-until.ts";

const run = promisify(execFile);

const programs = "/usr/lib/postgresql/15/bin";

export type NodeName = "a" | "b";

interface Failover {
  /** When the primary was killed, and when the standby was promoted, in milliseconds of `Date.now`. */
  readonly killedAt: number;
  readonly promotedAt: number;
}

export interface Databases {
  /** Runs a statement on the primary. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** The URL of the primary, without HAProxy. */
  readonly primaryUrl: () => string;
  /**
   * Waits until the standby has everything, kills the primary and promotes the standby. The former primary becomes the new standby
   * afterwards.
   *
   * @param silentMs for how long the connection between the two is silent before.
   */
  failOver(silentMs: number): Promise<Failover>;
  /** Waits until commits are confirmed by a standby again. */
  untilReplicated(): Promise<void>;
}

const database = "tenantry";

const settings = {
  listen_addresses: "127.0.0.1",
  max_connections: "200",
  shared_buffers: "64MB",
  // Processes are killed, not the system: what is written stays.
  fsync: "off",
  full_page_writes: "off",
  // Files in the data directory, which are gone with it.
  dynamic_shared_memory_type: "mmap",
  wal_keep_size: "256MB",
  max_wal_size: "512MB",
  log_min_messages: "warning",
};

export async function startDatabases(
  workplace: Workplace,
  ports: Readonly<Record<NodeName, number>>,
  proxy: Proxy,
): Promise<Databases> {
  const { directory, postgresUser: user } = workplace;
  let primary: NodeName = "a";
  const running: Partial<Record<NodeName, Program>> = {};
  let link: SilentProxy | undefined;
  let replicated = Promise.resolve();

  const folderOf = (name: NodeName): string => join(directory, `postgres-${name}`);
  const urlOf = (name: NodeName, of = database): string => `postgres://postgres@127.0.0.1:${ports[name]}/${of}`;
  const runTool = (tool: string, args: readonly string[]) =>
    run(join(programs, tool), [...args], {
      ...user,
      cwd: directory,
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" },
    });
  const ask = (name: NodeName, text: string, values: readonly unknown[] = [], of = database) =>
    askDatabase(urlOf(name, of), text, values);
  const start = async (name: NodeName, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const given = Object.entries({ ...settings, ...more, port: String(ports[name]), unix_socket_directories: "" });
    const args = ["-D", folderOf(name), ...given.flatMap(([key, value]) => ["-c", `${key}=${value}`])];
    running[name] = workplace.start(`postgres-${name}`, join(programs, "postgres"), args, { user });
    await waitUntil(`database ${name} answers`, async () => (await ask(name, "select 1", [], "postgres")).length === 1);
  };
  const kill = async (name: NodeName): Promise<void> => {
    const program = running[name];
    if (program === undefined) return;
    const segment = sharedMemoryOf(folderOf(name));
    killTree(program.pid);
    await program.ended;
    removeSharedMemory(segment);
  };
  workplace.onClose(() => {
    link?.close();
    for (const name of ["a", "b"] as const) {
      const segment = sharedMemoryOf(folderOf(name));
      killTree(running[name]?.pid);
      removeSharedMemory(segment);
    }
  });

  /** Makes the standby from the primary, and lets commits wait for it once it has everything. */
  const replicate = async (): Promise<void> => {
    const standby = otherOf(primary);
    link?.close();
    link = await startSilentProxy(urlOf(primary));
    rmSync(folderOf(standby), { recursive: true, force: true });
    makeFolder(folderOf(standby), user);
    const from = ["-h", "127.0.0.1", "-p", String(ports[primary]), "-U", "postgres"];
    await runTool("pg_basebackup", [...from, "-D", folderOf(standby), "-X", "stream", "-R", "-c", "fast"]);
    const { port } = new URL(link.url);
    await start(standby, { primary_conninfo: `host=127.0.0.1 port=${port} user=postgres application_name=standby` });
    await waitUntil("the standby streams", async () => {
      const rows = await ask(primary, "select from pg_stat_replication where state = 'streaming'");
      return rows.length === 1;
    });
    await setSynchronous("*");
    // Transactions that were about to commit have not waited.
    await sleep(1_000);
    const [{ head } = {}] = await ask(primary, "select pg_current_wal_lsn()::text as head");
    await waitUntil("the standby has everything", async () => {
      const text = "select from pg_stat_replication where sync_state = 'sync' and flush_lsn >= $1::pg_lsn";
      return (await ask(primary, text, [head])).length === 1;
    });
  };
  const setSynchronous = async (names: string): Promise<void> => {
    await ask(primary, `alter system set synchronous_standby_names = '${names}'`);
    await ask(primary, "select pg_reload_conf()");
  };

  makeFolder(folderOf("a"), user);
  await runTool("initdb", ["-D", folderOf("a"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]);
  await start("a");
  await ask("a", `create database ${database}`, [], "postgres");
  await replicate();
  await proxy.useDatabase("a");

  return {
    query: (text, values) => ask(primary, text, values),
    primaryUrl: () => urlOf(primary),
    untilReplicated: () => replicated,
    async failOver(silentMs) {
      await replicated;
      if (silentMs > 0) {
        link?.silence();
        await sleep(silentMs);
      }
      const killedAt = Date.now();
      const former = primary;
      await kill(former);
      await proxy.useNoDatabase();
      primary = otherOf(former);
      await ask(primary, "select pg_promote(true, 60)");
      await proxy.useDatabase(primary);
      const promotedAt = Date.now();
      replicated = replicate();
      // The next failover or the end of the run waits for it, and fails with it.
      replicated.catch(() => {});
      return { killedAt, promotedAt };
    },
  };
}

const otherOf = (name: NodeName): NodeName => (name === "a" ? "b" : "a");
