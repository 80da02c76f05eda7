// The version before, at the commit that `test/command/version-before` names.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export const commitBefore = readFileSync(join(root, "test/command/version-before"), "utf8").trim();

/** Whether the commit is here. */
export const hasVersionBefore =
  spawnSync("git", ["cat-file", "-e", `${commitBefore}^{commit}`], { cwd: root }).status === 0;

/** Writes its sources into a folder. */
export function extractVersionBefore(folder: string): void {
  const archive = execFileSync("git", ["archive", "--format=tar", commitBefore], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}
