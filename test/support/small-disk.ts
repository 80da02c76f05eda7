// A file system of a fixed size, which tests fill: in memory, or in a file where that would take too much of it.
import { type SpawnSyncReturns, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  rmdirSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly folder: string;
  /** Takes all room that is left. */
  fill(): void;
  makeRoom(): void;
  remove(): void;
}

/** Returns undefined where nothing may be mounted, and says so. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "tenantry-disk-"));
  const image = megabytes * 2 ** 20 > process.availableMemory() / 4 ? `${folder}.img` : undefined;
  const mounted =
    image === undefined
      ? spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder])
      : mountFile(image, megabytes, folder);
  const removeFolder = (): void => {
    rmdirSync(folder);
    if (image !== undefined) rmSync(image, { force: true });
  };
  if (mounted.status !== 0) {
    removeFolder();
    console.warn("SKIPPED: a full disk needs root, and the right to mount one");
    return undefined;
  }
  chmodSync(folder, 0o755);
  const filling = join(folder, "filling");
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      // At once, whatever the size. What is left is written.
      spawnSync("fallocate", ["--length", String(Math.floor(0.99 * bavail * bsize)), filling]);
      const file = openSync(filling, "a");
      try {
        for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2)) while (writes(file, size));
      } finally {
        closeSync(file);
      }
    },
    makeRoom: () => rmSync(filling, { force: true }),
    remove() {
      // Processes that have ended may take a moment to leave it.
      execFileSync("umount", ["--lazy", folder]);
      removeFolder();
    },
  };
}

function mountFile(image: string, megabytes: number, folder: string): SpawnSyncReturns<Buffer> {
  writeFileSync(image, "", { mode: 0o600 });
  truncateSync(image, megabytes * 2 ** 20);
  const made = spawnSync("mkfs.ext4", ["-q", "-m", "0", image]);
  return made.status === 0 ? spawnSync("mount", ["-o", "loop", image, folder]) : made;
}

function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) > 0;
  } catch {
    return false;
  }
}
