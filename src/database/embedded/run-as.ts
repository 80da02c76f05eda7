import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Cluster } from "./inspect-cluster.ts";

/** The user that runs PostgreSQL's programs; undefined for the current user. Can be spread into the options of `spawn`. */
export type RunAs = { readonly uid: number; readonly gid: number } | undefined;

/** The user `nobody` on most Linux systems. */
const unprivileged = { uid: 65534, gid: 65534 };

/**
 * Chooses the user of the server. PostgreSQL refuses to run as root, so root runs it as the owner of the cluster (which may
 * have been created by a start without root) or, for a new cluster, as `nobody`. Other users run it as themselves.
 */
export function chooseRunAs(cluster: string, existing: Cluster | undefined): RunAs {
  const uid = process.geteuid?.();
  if (uid === 0) {
    if (existing === undefined) return unprivileged;
    if (existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
    throw new EmbeddedPostgresError(
      "DIRECTORY_UNUSABLE",
      `${cluster} belongs to root, and PostgreSQL refuses to run as root. ` +
        `Change the owner: chown -R ${unprivileged.uid}:${unprivileged.gid} '${cluster}'`,
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
 * Returns the `--pgdata` or `-D` argument for a cluster that is the program's working directory. The user that root runs the
 * server as may be unable to traverse the path (through root's home, mode 0700), but can be started in the directory: libuv
 * changes the directory before it changes the user, and `/proc/self/cwd` is a link that the kernel follows without traversing
 * the path. PostgreSQL never changes its working directory, so the argument stays valid in all of its processes.
 */
export function dataArgument(cluster: string, runAs: RunAs): string {
  return runAs !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;
}
