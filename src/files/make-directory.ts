import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory and those above it that are missing. Unlike `mkdir` of Node with `recursive`, it ends where the file system says of a
 * directory that exists that it does not, as `/proc` does: Node tries again for ever, on a core of its own.
 *
 * @param mode of the directories that are made.
 * @returns whether the directory was missing.
 * @throws the error of the file system: ENOENT, EACCES, EROFS, or EEXIST and ENOTDIR where a file is in the way.
 */
export async function makeDirectory(directory: string, mode?: number): Promise<boolean> {
  const parent = dirname(directory);
  try {
    return await makeOne(directory, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === directory) throw error;
  }
  await makeDirectory(parent, mode);
  return makeOne(directory, mode);
}

async function makeOne(directory: string, mode: number | undefined): Promise<boolean> {
  try {
    await mkdir(directory, { mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw error;
    // Another process may have made it, and some file systems refuse before they say that it is there.
    const found = await stat(directory).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
    return false;
  }
}
