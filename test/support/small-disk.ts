// A file system of a fixed size, in memory, which tests fill.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, openSync, closeSync, rmSync, rmdirSync, writeSync } from "node:fs";
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
  const mount = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  if (mount.status !== 0) {
    rmdirSync(folder);
    console.warn("SKIPPED: a full disk needs root, and the right to mount one");
    return undefined;
  }
  chmodSync(folder, 0o755);
  const filling = join(folder, "filling");
  return {
    folder,
    fill() {
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
      rmdirSync(folder);
    },
  };
}

function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) > 0;
  } catch {
    return false;
  }
}
