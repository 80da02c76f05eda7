import { mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { hasCode } from "./has-code.ts";

/**
 * Builds a directory under a temporary name beside `target` and renames it into place, so that `target` is never incomplete. If
 * another process has created `target` first, keeps that one and discards this one. Removes the temporary directories of
 * builders that were killed.
 */
export async function buildDirectory(target: string, build: (temporary: string) => Promise<void>): Promise<void> {
  await removeAbandoned(target);
  const temporary = await mkdtemp(`${target}.new-${builder}-`);
  try {
    await build(temporary);
    try {
      await rename(temporary, target);
    } catch (error) {
      if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
    }
    await syncDirectory(path.dirname(target));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Identifies this process. In a container, a killed process and its successor often have the same id, so the start time is
 * included.
 */
const builder = `${process.pid}-${Math.round(performance.timeOrigin)}`;

async function removeAbandoned(target: string): Promise<void> {
  const parent = path.dirname(target);
  const prefix = `${path.basename(target)}.new-`;
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix) || name.startsWith(`${prefix}${builder}-`)) continue;
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (pid !== process.pid && isAlive(pid)) continue;
    // A program that the killed builder started may still be writing there. If so, the next build tries again.
    await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** Syncs a directory, so that a new name in it survives a power failure. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
