import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { Client } from "pg";
import { test as base, beforeEach, inject } from "vitest";

import { copyCluster } from "../../support/copy-cluster.ts";
import { rounds } from "../../support/rounds.ts";
import { locateBinaries } from "../../../src/database/embedded/locate-binaries.ts";
import { findServerProcess } from "../../../src/database/embedded/server-process.ts";
import { required } from "../../../src/errors/required.ts";
import type {
  EmbeddedPostgres,
  EmbeddedPostgresOptions,
} from "../../../src/database/embedded/start-embedded-postgres.ts";

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export const currentUser: User = { name: "the current user", uid: process.geteuid!(), gid: process.getegid!() };
export const isRoot = currentUser.uid === 0;
/** Another user, who exists on every system. Only root can start processes as this user. */
export const daemon: User = { name: "daemon", uid: 1, gid: 1 };
/** The user that runs the server if root creates a database. */
export const nobody: User = { name: "nobody", uid: 65534, gid: 65534 };
/** The users as whom the tests can start processes. */
export const users = isRoot ? [{ ...currentUser, name: "root" }, daemon] : [currentUser];

/**
 * Runs each test of a `describe` of all users for one of them: the first test for the first user, the second test for the second
 * one, and so on. `npm run soak` runs each test for all users.
 */
export function takeTurns(user: User): void {
  if (rounds(false, true)) return;
  beforeEach(({ task, skip }) => {
    const number = required(task.suite).tasks.indexOf(task);
    skip(users[number % users.length] !== user, "in turn: it runs for another user");
  });
}

type Connection = EmbeddedPostgres["connection"];
type Event = { event: string; level?: string; message?: string; reason?: string; connection?: Connection };
type StartOptions = Omit<EmbeddedPostgresOptions, "log"> & {
  user?: User;
  /** A program that starts another one, with its arguments. */
  through?: readonly string[];
};

export interface Owner {
  readonly pid: number;
  readonly directory: string;
  /** All events so far. */
  readonly events: readonly Event[];
  readonly connection: Connection;
  /** Resolves to the first matching event, past or future. */
  event(fits: (event: Event) => boolean): Promise<Event>;
  send(command: "stop" | "exit"): void;
  /** Stops the server and waits until the process exits. */
  stop(): Promise<void>;
  /** Kills the process with SIGKILL, but not the server. */
  kill(): Promise<void>;
}

export interface Scratch {
  /** A directory for each test, in which all users can create files. */
  readonly directory: string;
  /** Creates a subdirectory for a user. */
  make(name: string, user?: User): Promise<string>;
  /** Creates a subdirectory with a database without data, faster than a start would. */
  makeDatabase(name: string, user?: User): Promise<string>;
  /**
   * Starts a process that owns a server, and resolves when the server is ready. Rejects with the message and reason of the
   * process.
   */
  start(options: StartOptions): Promise<Owner>;
}

export const test = base.extend<{ scratch: Scratch }>({
  // vitest derives the fixtures that a test uses from this pattern.
  // oxlint-disable-next-line no-empty-pattern
  scratch: async ({}, use) => {
    const directory = await mkdtemp(path.join(tmpdir(), "tenantry-embedded-"));
    await chmod(directory, 0o777);
    const started: Owner[] = [];
    const make = async (name: string, user = currentUser) => {
      const made = path.join(directory, name);
      await mkdir(made, { recursive: true });
      await chown(made, user.uid, user.gid);
      return made;
    };
    await use({
      directory,
      make,
      async makeDatabase(name, user = currentUser) {
        const made = await make(name, user);
        await copyCluster(inject("migratedCluster"), made, isRoot ? user : undefined);
        return made;
      },
      async start(options) {
        const owner = spawnOwner(options, directory);
        started.push(owner);
        const first = await owner.event((told) => told.event === "ready" || told.event === "failed");
        if (first.event === "failed") throw Object.assign(new Error(first.message), { reason: first.reason });
        return owner;
      },
    });
    for (const owner of started) {
      await owner.kill();
      await killServer(owner.directory);
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  },
});

function spawnOwner({ user = currentUser, settings, through = [], ...rest }: StartOptions, home: string): Owner {
  // Tests only crash processes, never the machine.
  const options = { ...rest, settings: { fsync: "off", ...settings } };
  const script = path.join(import.meta.dirname, "owner.ts");
  const [program, ...args] = [...through, process.execPath, script, JSON.stringify(options)];
  const child = spawn(program ?? "", args, {
    ...(isRoot && { uid: user.uid, gid: user.gid }),
    cwd: home,
    env: { HOME: path.join(home, `home-${user.name}`), TMPDIR: home, NODE_COMPILE_CACHE: inject("compileCache") },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true, // its own process group, as in a terminal
  });
  const events: Event[] = [];
  // The process may have ended before its last lines are read.
  let isAllRead = false;
  createInterface({ input: child.stdout })
    .on("line", (line) => events.push(JSON.parse(line) as Event))
    .on("close", () => (isAllRead = true));
  const ended = once(child, "close");
  const event = async (fits: (event: Event) => boolean) => {
    for (;;) {
      const found = events.find(fits);
      if (found !== undefined) return found;
      if (isAllRead && hasEnded(child))
        throw new Error(`The owner ended (${child.signalCode ?? child.exitCode}): ${JSON.stringify(events)}`);
      await delay(10);
    }
  };
  return {
    pid: child.pid!,
    directory: options.directory,
    events,
    event,
    get connection() {
      return events.find((told) => told.event === "ready")!.connection!;
    },
    send: (command) => void child.stdin.write(`${command}\n`),
    async stop() {
      child.stdin.write("stop\n");
      await event((told) => told.event === "stopped");
      await ended;
    },
    async kill() {
      if (!hasEnded(child)) child.kill("SIGKILL");
      await ended;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function killServer(directory: string): Promise<void> {
  const pid = await serverPid(directory).catch(() => 0);
  const found = pid > 0 ? await findServerProcess(pid, path.join(directory, "cluster")) : undefined;
  if (found !== undefined) process.kill(found.pid, "SIGKILL");
}

/** Returns the process id in postmaster.pid. Fails if there is none. */
export async function serverPid(directory: string): Promise<number> {
  return Number((await readFile(path.join(directory, "cluster", "postmaster.pid"), "utf8")).split("\n")[0]);
}

/** Runs the statements in order and returns the rows of the last one. */
export async function query(connection: Connection, ...statements: string[]): Promise<unknown[]> {
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Connects from a process of the user. Only root can start processes as another user. Rejects with the message of the error.
 */
export async function connectAs(user: User, connection: Partial<Connection>): Promise<void> {
  const script = path.join(import.meta.dirname, "connect.ts");
  const options = { ...(isRoot && { uid: user.uid, gid: user.gid }), cwd: "/", env: {} };
  await promisify(execFile)(process.execPath, [script, JSON.stringify(connection)], options).catch(
    ({ stderr, message }: Error & { stderr?: string }) => {
      throw new Error(stderr?.trim() || message);
    },
  );
}

/** Repeats the attempt until it succeeds, for at most two minutes. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + 120_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await delay(50);
    }
  }
}

/** Reports whether the process exists and is not a zombie. */
export async function isRunning(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")) !== "";
}

/** Returns the ids of the processes whose working directory is this one. */
export async function processesIn(directory: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const directories = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => "")));
  return ids.filter((_, index) => directories[index] === directory);
}

/** Copies the package of the binaries as npm unpacks it, without the links that its install script creates. */
export async function copyPackage(to: string): Promise<string> {
  const from = locateBinaries();
  const run = promisify(execFile);
  await mkdir(path.dirname(to), { recursive: true });
  // Hard links if the file system supports them, because the files are large (60 MB) and never written to.
  await run("cp", ["-al", from, to]).catch(async () => {
    await rm(to, { recursive: true, force: true });
    await run("cp", ["-a", from, to]);
  });
  const links = await readFile(path.join(from, "native", "pg-symlinks.json"), "utf8");
  for (const { target } of JSON.parse(links) as { target: string }[]) await rm(path.join(to, target), { force: true });
  return to;
}
