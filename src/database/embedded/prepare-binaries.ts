import { readFile, symlink } from "node:fs/promises";
import path from "node:path";

import { copyBinaries } from "./copy-binaries.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";
import type { RunAs } from "./run-as.ts";
import { runProgram } from "./run-program.ts";

export interface Binaries {
  /** Contains bin/, lib/ and share/. */
  readonly directory: string;
  /** As PostgreSQL reports it: "18.4". */
  readonly version: string;
}

/**
 * Finds binaries that the server's user can run: the package itself if possible, or else a copy in the first of `caches` that
 * works. A copy is needed if the server's user cannot access the package (in root's home), or if its library links are missing
 * and the package is read-only. The binaries are tested by running them, which covers modes, mounts and missing libraries.
 */
export async function prepareBinaries(
  packageDirectory: string,
  runAs: RunAs,
  caches: readonly string[],
): Promise<Binaries> {
  const problems: string[] = [];
  try {
    await linkLibraries(packageDirectory);
    return await tryBinaries(packageDirectory, runAs);
  } catch (error) {
    problems.push(`${packageDirectory}: ${(error as Error).message}`);
  }
  for (const cache of caches) {
    try {
      const copy = await copyBinaries(packageDirectory, cache, async (directory) => {
        await linkLibraries(directory);
        await tryBinaries(directory, runAs);
      });
      return await tryBinaries(copy, runAs);
    } catch (error) {
      problems.push(`${cache}: ${(error as Error).message}`);
    }
  }
  throw new EmbeddedPostgresError(
    "BINARIES_UNUSABLE",
    `User id ${runAs?.uid ?? process.geteuid?.()} can run PostgreSQL neither in place nor from a copy. ` +
      `Start without root, or from a directory that everyone can read, or set DATABASE_URL.\n${problems.join("\n")}`,
  );
}

async function tryBinaries(packageDirectory: string, runAs: RunAs): Promise<Binaries> {
  const directory = path.join(packageDirectory, "native");
  const version = async (program: string) =>
    /\(PostgreSQL\) (\S+)/.exec(
      await runProgram(path.join(directory, "bin", program), ["--version"], { runAs, cwd: "/" }),
    )?.[1];
  const [server, initdb] = await Promise.all([version("postgres"), version("initdb")]);
  if (server === undefined || server !== initdb) throw new Error(`postgres is ${server}, initdb is ${initdb}`);
  return { directory, version: server };
}

/**
 * Creates the links between library names, which an npm package cannot contain (libpq.so.5 → libpq.so.5.18). The package's
 * install script creates them too, but is often disabled. If the package is read-only, running the binaries shows whether the
 * links were needed.
 */
async function linkLibraries(packageDirectory: string): Promise<void> {
  const list = await readFile(path.join(packageDirectory, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(path.relative(path.dirname(target), source), path.join(packageDirectory, target));
    } catch (error) {
      if (!hasCode(error, "EEXIST", "EACCES", "EPERM", "EROFS")) throw error;
    }
  }
}
