// Servers of PostgreSQL 15, the oldest supported version, from Debian's packages, where these are installed.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./free-port.ts";

const run = promisify(execFile);
const programs = "/usr/lib/postgresql/15/bin";

/** Whether they can be started. A test that needs them is skipped otherwise, and says so. */
export const hasDebianPostgres = existsSync(join(programs, "initdb"));
if (!hasDebianPostgres) console.warn(`SKIPPED: there is no PostgreSQL 15 in ${programs}; its tests do not run`);

export interface DebianPostgres {
  readonly port: number;
  readonly url: (database?: string) => string;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Replaces `pg_hba.conf`. */
  allow(lines: readonly string[]): Promise<void>;
  /** Makes a standby of it, which streams from it. */
  startStandby(folder: string): Promise<DebianPostgres>;
  /** Resolves when it has ended. */
  ended(): Promise<void>;
  /** Ends it at once, if it still runs, and starts it with more environment variables. */
  restart(environment?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it at once, and removes its files. */
  stop(): Promise<void>;
}

/**
 * Creates a cluster in a new folder and starts its server, with a database `tenantry`.
 *
 * @param logFolder a folder, which does not exist either, for its write-ahead log; by default, it is in the other one.
 */
export async function startDebianPostgres(
  folder: string,
  settings: readonly string[] = [],
  logFolder?: string,
): Promise<DebianPostgres> {
  for (const each of [folder, ...(logFolder === undefined ? [] : [logFolder])]) await makeFolder(each);
  const options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"];
  const log = logFolder === undefined ? [] : ["-X", logFolder];
  await runTool(folder, "initdb", ["-D", folder, ...options, ...log]);
  const server = await startIn(folder, settings);
  const client = new pg.Client({ connectionString: server.url("postgres") });
  await client.connect();
  await client.query("create database tenantry").finally(() => client.end());
  return server;
}

async function startIn(folder: string, more: readonly string[] = []): Promise<DebianPostgres> {
  const port = await freePort();
  const settings = ["fsync=off", "full_page_writes=off", "listen_addresses=127.0.0.1", "unix_socket_directories="];
  const given = [...settings, `port=${port}`, "shared_buffers=16MB", ...more].flatMap((each) => ["-c", each]);
  const start = (environment: Readonly<Record<string, string>> = {}): ChildProcess =>
    spawn(join(programs, "postgres"), ["-D", folder, ...given], {
      ...user(),
      cwd: folder,
      stdio: "ignore",
      env: { ...process.env, ...environment },
    });
  let child = start();
  let ended: Promise<unknown> = once(child, "close");
  const url = (database = "tenantry"): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const query = async (text: string, database?: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url(database) });
    client.on("error", () => {});
    await client.connect();
    return (await client.query<Record<string, unknown>>(text).finally(() => client.end())).rows;
  };
  const untilAnswers = async (): Promise<void> => {
    while (
      await query("select 1", "postgres").then(
        () => false,
        () => true,
      )
    ) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL 15 in ${folder} has ended`);
      await sleep(50);
    }
  };
  const end = async (): Promise<void> => {
    child.kill("SIGQUIT");
    await ended;
  };
  await untilAnswers();
  return {
    port,
    url,
    query: (text) => query(text),
    async allow(lines) {
      await writeFile(join(folder, "pg_hba.conf"), lines.map((line) => `${line}\n`).join(""));
      await query("select pg_reload_conf()");
    },
    async startStandby(standby) {
      await makeFolder(standby);
      const from = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres"];
      await runTool(folder, "pg_basebackup", [...from, "-D", standby, "-X", "stream", "-R", "-c", "fast"]);
      return startIn(standby);
    },
    ended: async () => void (await ended),
    async restart(environment) {
      await end();
      child = start(environment);
      ended = once(child, "close");
      await untilAnswers();
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function user(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await chmod(join(folder, ".."), 0o755);
  const owner = user();
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
}

async function runTool(folder: string, tool: string, args: readonly string[]): Promise<void> {
  await run(join(programs, tool), [...args], {
    ...user(),
    cwd: folder,
    env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" },
  });
}
