// The processes and the directory of a run, which are gone at its end, however it ends.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { memoryDirectory } from "../../test/support/memory-directory.ts";

/** A user of the system. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: User | undefined;
}

export interface Program {
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  signal(name: NodeJS.Signals): void;
}

export interface Workplace {
  /** A folder for everything that the run writes. */
  readonly directory: string;
  /** The user of PostgreSQL, which refuses to run as root; undefined for the own one. */
  readonly postgresUser: User | undefined;
  /** Starts a program, whose output is appended to `<name>.log`. */
  start(name: string, command: string, args: readonly string[], options?: StartOptions): Program;
  /** Calls this before the processes are ended. */
  onClose(close: () => void): void;
  /** Ends all processes and removes the directory. */
  close(): void;
}

/** Creates the folder of a run. What runs in it ends with this process, however that ends. */
export function createWorkplace(neededBytes = 0): Workplace {
  const directory = mkdtempSync(join(memoryDirectory(neededBytes) ?? tmpdir(), "tenantry-chaos-"));
  const postgresUser = process.getuid?.() === 0 ? lookUpUser("postgres") : undefined;
  // PostgreSQL's user enters it.
  chmodSync(directory, 0o755);
  const children = new Set<ChildProcess>();
  const closers: (() => void)[] = [];
  const workplace: Workplace = {
    directory,
    postgresUser,
    start(name, command, args, { env = {}, user } = {}) {
      const log = openSync(join(directory, `${name}.log`), "a");
      const child = spawn(command, args, {
        env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", ...env },
        stdio: ["ignore", log, log],
        cwd: user === undefined ? process.cwd() : directory,
        ...user,
      });
      closeSync(log);
      children.add(child);
      const ended = once(child, "exit").then(() => void children.delete(child));
      const { pid } = child;
      if (pid === undefined) throw new Error(`${command} cannot be started`);
      return { pid, isRunning: () => children.has(child), ended, signal: (signal) => void child.kill(signal) };
    },
    onClose: (close) => void closers.push(close),
    close() {
      for (const close of closers.splice(0).toReversed()) close();
      for (const child of children) killTree(child.pid);
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  // Also after an error that nobody has caught.
  process.once("exit", () => workplace.close());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
  return workplace;
}

/** Kills a process and its children at once, as if their machine had failed. */
export function killTree(pid: number | undefined): void {
  signalTree(pid, "SIGKILL");
}

/** Sends a signal to a process and then to its children. */
export function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  // 0 would be the own group.
  if (pid === undefined || pid < 2) return;
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function lookUpUser(name: string): User {
  const read = (flag: string): number => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: read("-u"), gid: read("-g") };
}

/** Creates a folder that belongs to a user. */
export function makeFolder(path: string, user: User | undefined): string {
  mkdirSync(path, { mode: 0o700 });
  if (user !== undefined) chownSync(path, user.uid, user.gid);
  return path;
}

/** Returns ports on which nothing listens. What runs beside gets none of them for a connection, also while their server restarts. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
