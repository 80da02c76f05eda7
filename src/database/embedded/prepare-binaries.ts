import { readFile, symlink } from "node:fs/promises";
import path from "node:path";

import { copyBinaries } from "./copy-binaries.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";
import type { RunAs } from "./run-as.ts";
import { runProgram } from "./run-program.ts";

export interface Binaries {
  /** Holds bin/, lib/ and share/. */
  readonly directory: string;
  /** As PostgreSQL says it: "18.4". */
  readonly version: string;
}

/**
 * Finds binaries that the server's user can run: the package's own when they will do, else a copy in the first of
 * `caches` that works. Two things ask for a copy: the package lies where the server's user cannot go (root's home), or
 * its library links are missing and the package cannot be written to. Trying is the test: it sees modes, mounts and
 * missing libraries alike.
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
 * Makes the links between library names that npm cannot put into a package (libpq.so.5 → libpq.so.5.18). The package's
 * install script makes them too, but installations without scripts are common. Where the package is read-only, trying
 * the binaries tells whether the links were needed.
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
