import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";

import { hasCode } from "./has-code.ts";

/** A running PostgreSQL server (the postmaster). */
export interface ServerProcess {
  readonly pid: number;
  readonly parent: number;
  /** The process that started it, according to its command line; undefined if that was not Tenantry. */
  readonly owner: number | undefined;
}

/** Settings on the server's command line that identify it. PostgreSQL accepts and ignores them. */
export function processMarks(cluster: string): Record<string, string> {
  return { "tenantry.directory": cluster, "tenantry.owner": String(process.pid) };
}

/**
 * Returns the process `pid` if it is the server of `cluster`, with its owner. Process ids are reused, so the process must also
 * be called postgres and have the cluster as its working directory.
 */
export async function findServerProcess(
  pid: number,
  cluster: string,
  platform: string = process.platform,
): Promise<ServerProcess | undefined> {
  const found = platform === "linux" ? await readProc(pid, cluster) : await readPs(pid, cluster);
  // The names of its backends start with "postgres: ".
  if (found === undefined || !found.here || !/(^|\/)postgres /.test(found.command)) return undefined;
  const owner = / tenantry\.owner=(\d+)/.exec(found.command)?.[1];
  return { pid, parent: found.parent, owner: owner === undefined ? undefined : Number(owner) };
}

interface Found {
  readonly parent: number;
  readonly command: string;
  /** Whether its working directory is the cluster. */
  readonly here: boolean;
}

async function readProc(pid: number, cluster: string): Promise<Found | undefined> {
  try {
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
    // "pid (name) state parent ...", where the name may contain any character.
    const status = await readFile(`/proc/${pid}/stat`, "utf8");
    const parent = Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
    return { parent, command, here: await worksIn(pid, cluster, command) };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}

async function worksIn(pid: number, cluster: string, command: string): Promise<boolean> {
  try {
    const [itsDirectory, ours] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(cluster)]);
    return itsDirectory.dev === ours.dev && itsDirectory.ino === ours.ino;
  } catch (error) {
    // Root in a container usually lacks CAP_SYS_PTRACE, which reading the working directory of another user's process requires.
    if (hasCode(error, "EACCES", "EPERM")) return namesDirectory(command, cluster);
    throw error;
  }
}

async function readPs(pid: number, cluster: string): Promise<Found | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "ppid=,command=", "-p", String(pid)]);
    const [, parent, command = ""] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
    return { parent: Number(parent), command, here: namesDirectory(command, cluster) };
  } catch (error) {
    if (hasCode(error, "1")) return undefined; // no such process
    throw error;
  }
}

function namesDirectory(command: string, cluster: string): boolean {
  return command.includes(` tenantry.directory=${cluster} `);
}
