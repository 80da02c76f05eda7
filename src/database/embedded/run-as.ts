import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Cluster } from "./inspect-cluster.ts";

/** The user that PostgreSQL's programs run as; undefined is our own. Fits into the options of `spawn`. */
export type RunAs = { readonly uid: number; readonly gid: number } | undefined;

/** The user `nobody` of nearly every Linux. */
const unprivileged = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root, so root hands the server to another user: the owner of the cluster when there is
 * one (it may have been made by a start without root), else `nobody`. Anyone else runs it as themselves.
 */
export function chooseRunAs(cluster: string, existing: Cluster | undefined): RunAs {
  const uid = process.geteuid?.();
  if (uid === 0) {
    if (existing === undefined) return unprivileged;
    if (existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
    throw new EmbeddedPostgresError(
      "DIRECTORY_UNUSABLE",
      `${cluster} belongs to root, as which PostgreSQL does not run. ` +
        `Give it to another user: chown -R ${unprivileged.uid}:${unprivileged.gid} '${cluster}'`,
    );
  }
  if (existing !== undefined && existing.uid !== uid) {
    throw new EmbeddedPostgresError(
      "DIRECTORY_UNUSABLE",
      `${cluster} belongs to user id ${existing.uid}, and this process is user id ${uid}. ` +
        `Start as the owner or as root, or change the owner: chown -R ${uid} '${cluster}'`,
    );
  }
  return undefined;
}

/**
 * How a program names the cluster that is its working directory. The other user that root hands the server to may not
 * be able to walk there (the way leads through root's home, mode 0700). But it can be put there: libuv changes the
 * directory before it drops the user, and `/proc/self/cwd` is a link that the kernel follows without walking the path.
 * PostgreSQL never leaves its data directory, so the name holds for all of its processes and their whole life.
 */
export function dataArgument(cluster: string, runAs: RunAs): string {
  return runAs !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;
}
