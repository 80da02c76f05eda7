import { chown } from "node:fs/promises";
import path from "node:path";

import { buildDirectory } from "./build-directory.ts";
import type { Binaries } from "./prepare-binaries.ts";
import { dataArgument, type RunAs } from "./run-as.ts";
import { runProgram } from "./run-program.ts";

/**
 * Creates an empty cluster with initdb, in a directory that only its owner can enter (mode 0700, set by initdb). The collation
 * is PostgreSQL's built-in code point order of UTF-8, so that indexes do not depend on the system's locales. Before each start
 * of the server, restrict-access.ts determines who can connect.
 */
export async function createCluster(cluster: string, binaries: Binaries, runAs: RunAs): Promise<void> {
  await buildDirectory(cluster, async (temporary) => {
    if (runAs !== undefined) await chown(temporary, runAs.uid, runAs.gid);
    const args = [
      `--pgdata=${dataArgument(temporary, runAs)}`,
      "--username=tenantry",
      "--auth-local=reject",
      "--auth-host=reject",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--data-checksums",
      "--no-instructions",
    ];
    await runProgram(path.join(binaries.directory, "bin", "initdb"), args, { runAs, cwd: temporary });
  });
}
