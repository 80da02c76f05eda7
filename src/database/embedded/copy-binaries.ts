import { chmod, constants, copyFile, lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { makeDirectory } from "../../files/make-directory.ts";
import path from "node:path";

import { buildDirectory } from "./build-directory.ts";
import { hasCode } from "./has-code.ts";

/**
 * Copies the package into the directory `cache` unless it contains the copy already, and returns the path of the copy, which
 * depends only on version and platform. Calls `check` with a new copy before the copy gets its final name. Because programs are
 * run from there, both the cache and the copy must belong to this process's user and must not be writable by others.
 */
export async function copyBinaries(
  packageDirectory: string,
  cache: string,
  check: (directory: string) => Promise<void>,
): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(packageDirectory, "package.json"), "utf8")) as {
    version: string;
  };
  const copy = path.join(cache, `postgres-${version}-${process.platform}-${process.arch}`);
  const isNew = await makeDirectory(cache);
  // A restrictive umask must not exclude the server's user.
  if (isNew) await chmod(cache, 0o755);
  await assertOurs(cache);
  if (!(await exists(copy))) {
    await buildDirectory(copy, async (temporary) => {
      await copyTree(packageDirectory, temporary);
      await check(temporary);
    });
  }
  await assertOurs(copy);
  return copy;
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

async function assertOurs(directory: string): Promise<void> {
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${directory} must be a directory that this user owns and that no other user can write to; move it away`,
    );
  }
}

/** Copies a directory with modes that let everyone read it. Skips symbolic links, which are created later, and static libraries. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory()) {
      await copyTree(source, target);
    } else if (entry.isFile() && !entry.name.endsWith(".a")) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      const executable = ((await lstat(source)).mode & 0o100) !== 0;
      await chmod(target, executable ? 0o755 : 0o644);
    }
  }
}
