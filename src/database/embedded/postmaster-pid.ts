import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { hasCode } from "./has-code.ts";
import { findServerProcess } from "./server-process.ts";

/** What a PostgreSQL server writes into its data directory for as long as it runs. It stays behind when it is killed. */
export interface PostmasterPid {
  readonly pid: number;
  /** As the server was told, perhaps relative to the data directory; absent until the socket is open. */
  readonly socketDirectory: string | undefined;
  /** "starting", "ready", "stopping"; absent at first. */
  readonly status: string | undefined;
}

/**
 * Reads the text of a `postmaster.pid`; undefined when it is not one. The lines: process id (negative without a
 * postmaster), data directory, start time, port, socket directory, listen address, shared memory key, status. (PostgreSQL,
 * `src/include/utils/pidfile.h`.)
 */
export function parsePostmasterPid(text: string): PostmasterPid | undefined {
  const [id = "", , , , socketDirectory, , , status] = text.split("\n").map((line) => line.trim());
  if (!/^-?[1-9]\d{0,9}$/.test(id)) return undefined;
  return {
    pid: Math.abs(Number(id)),
    socketDirectory: socketDirectory === "" ? undefined : socketDirectory,
    status: status === "" ? undefined : status,
  };
}

/** Undefined when there is no such file or no sense in it. */
export async function readPostmasterPid(cluster: string): Promise<PostmasterPid | undefined> {
  return parsePostmasterPid((await readIfThere(path.join(cluster, "postmaster.pid"))) ?? "");
}

/**
 * Removes lock files that would keep PostgreSQL from starting although no server runs on the cluster: those that name a
 * process of this machine, which is another one that has got the same id since or a dead one that nobody has collected,
 * and those without sense, which a full disk leaves behind. The others PostgreSQL itself replaces, and uses what they say
 * to look for orphaned backends first.
 */
export async function removeMisleadingLocks(cluster: string): Promise<void> {
  for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
    const file = path.join(cluster, name);
    if (await isMisleading(file, cluster)) await rm(file, { force: true });
  }
}

async function isMisleading(file: string, cluster: string): Promise<boolean> {
  let text = await readIfThere(file);
  if (text !== undefined && parsePostmasterPid(text) === undefined) {
    // A server that starts at this moment has made the file and is about to write it.
    await delay(200);
    text = await readIfThere(file);
  }
  if (text === undefined) return false;
  const named = parsePostmasterPid(text);
  if (named === undefined) return true;
  return processExists(named.pid) && (await findServerProcess(named.pid, cluster)) === undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}
