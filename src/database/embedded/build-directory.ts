import { mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { hasCode } from "./has-code.ts";

/**
 * Builds a directory under a temporary name beside `target` and renames it into place, so that `target` is never seen
 * half made. When someone else was first, theirs stays and ours is thrown away. Temporaries of builders that were
 * killed are removed.
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

/** Names this process. In a container the process that is killed and its successor often have the same id: hence the time. */
const builder = `${process.pid}-${Math.round(performance.timeOrigin)}`;

async function removeAbandoned(target: string): Promise<void> {
  const parent = path.dirname(target);
  const prefix = `${path.basename(target)}.new-`;
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix) || name.startsWith(`${prefix}${builder}-`)) continue;
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (pid !== process.pid && isAlive(pid)) continue;
    // A program of the killed builder may still be writing there for a moment; the next build tries again.
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

/** Makes the new name survive a power cut, as the files below it already do. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
