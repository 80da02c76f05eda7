// How much room there is on the disk of a folder.
import { statfs } from "node:fs/promises";

export interface DiskSpace {
  /** In bytes: what processes without privileges can still use, and all. */
  readonly free: number;
  readonly size: number;
}

/**
 * Returns a function that returns what was found last, and looks again meanwhile: a disk of the network that does not answer any more keeps
 * nobody waiting. Undefined if the folder is gone.
 */
export async function watchDiskSpace(folder: string): Promise<() => DiskSpace | undefined> {
  let found: DiskSpace | undefined;
  let looking: Promise<void> | undefined;
  const look = (): Promise<void> =>
    (looking ??= statfs(folder)
      .then(({ bavail, blocks, bsize }) => void (found = { free: bavail * bsize, size: blocks * bsize }))
      .catch(() => void (found = undefined))
      .finally(() => (looking = undefined)));
  await look();
  return () => {
    void look();
    return found;
  };
}
