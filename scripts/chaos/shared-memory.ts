// The segments of System V that PostgreSQL servers hold. One that was killed leaves its segment behind.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the lines of the `postmaster.pid` in a data directory, of which the first is the process; none without a server. */
export function readServerFile(folder: string): string[] {
  try {
    return readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return [];
  }
}

/** Returns the id of the segment that the server in a data directory holds; undefined if it has none. */
export function sharedMemoryOf(folder: string): string | undefined {
  return readServerFile(folder)[6]?.trim().split(/ +/)[1];
}

/** Removes a segment of a server that was killed. */
export function removeSharedMemory(segment: string | undefined): void {
  try {
    if (segment !== undefined) execFileSync("ipcrm", ["-m", segment], { stdio: "ignore" });
  } catch {
    // The next server in its folder has removed it.
  }
}
