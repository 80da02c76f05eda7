import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";

/** A PostgreSQL data directory. */
export interface Cluster {
  /** The major version that made it: "18". */
  readonly major: string;
  readonly uid: number;
  readonly gid: number;
}

/** What is in the directory `cluster`; undefined when there is no such directory, or an empty one. */
export async function inspectCluster(cluster: string): Promise<Cluster | undefined> {
  let owner;
  try {
    owner = await stat(cluster);
    const major = (await readFile(path.join(cluster, "PG_VERSION"), "utf8")).trim();
    return { major, uid: owner.uid, gid: owner.gid };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    // Someone else's, closed to us: whose it is matters before its version does.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) return { major: "", uid: owner.uid, gid: owner.gid };
    throw error;
  }
}

/** PostgreSQL reads only clusters of its own major version. `version` is the binaries': "18.4". */
export async function checkCluster(cluster: string, version: string): Promise<void> {
  const found = await inspectCluster(cluster);
  if (found === undefined) {
    throw new EmbeddedPostgresError("DIRECTORY_UNUSABLE", `${cluster} holds files but no database. Move it away.`);
  }
  if (found.major === version.split(".")[0]) return;
  throw new EmbeddedPostgresError(
    "VERSION_MISMATCH",
    `${cluster} was made by PostgreSQL ${found.major}, and the embedded server is PostgreSQL ${version}. ` +
      `Move it away and restore a dump of it, or run PostgreSQL ${found.major} on it and set DATABASE_URL.`,
  );
}
