import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { hasCode } from "./has-code.ts";
import { findServerProcess } from "./server-process.ts";

/**
 * The contents of the file that a PostgreSQL server keeps in its data directory while it runs, and leaves there when it is
 * killed.
 */
export interface PostmasterPid {
  readonly pid: number;
  /** As configured, possibly relative to the data directory; undefined until the socket is open. */
  readonly socketDirectory: string | undefined;
  /** "starting", "ready" or "stopping"; undefined at first. */
  readonly status: string | undefined;
}

/**
 * Parses a `postmaster.pid`. Returns undefined if the text is not valid. The lines are: process id (negative without a
 * postmaster), data directory, start time, port, socket directory, listen address, shared memory key, status (PostgreSQL,
 * `src/include/utils/pidfile.h`).
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

/** Reads `postmaster.pid`. Returns undefined if the file does not exist or is not valid. */
export async function readPostmasterPid(cluster: string): Promise<PostmasterPid | undefined> {
  return parsePostmasterPid((await readIfThere(path.join(cluster, "postmaster.pid"))) ?? "");
}

/**
 * Removes lock files that would prevent PostgreSQL from starting although no server runs on the cluster: files that name a
 * process of this machine that is not this server (its id was reused, or it is a zombie), and invalid files, which a full disk
 * leaves behind. PostgreSQL itself replaces all other lock files, and first uses their contents to look for orphaned backends.
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
    // A server that is just starting may have created the file without having written it yet.
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
