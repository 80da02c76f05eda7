import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Copies a cluster to its location below the data directory of a service or embedded server, and makes the user its owner if
 * one is given.
 */
export async function copyCluster(
  cluster: string,
  directory: string,
  user?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await run("cp", ["-a", cluster, join(directory, "cluster")]);
  if (user !== undefined && user.uid !== 0) await run("chown", ["-R", `${user.uid}:${user.gid}`, directory]);
}
