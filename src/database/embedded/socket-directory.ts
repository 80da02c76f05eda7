import { chownSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { RunAs } from "./run-as.ts";

/** Where the server's socket lies. There is no TCP port; who may enter the directory may connect. */
export interface SocketDirectory {
  /** As the server names it. Its working directory is the cluster. */
  readonly forServer: string;
  /** As clients name it: absolute and short. */
  readonly forClients: string;
  /** Removes what was made for it. */
  remove(): void;
}

/** The name's end is PostgreSQL's. */
export const socketFile = ".s.PGSQL.5432";

/** A socket's address holds 108 bytes on Linux and 104 on macOS, with the NUL. */
const maximumPath = 100;

/**
 * The socket in the cluster itself, which only its owner may enter. There it is always found again, by a later start and
 * from other containers that mount the same volume. The server says "." and so has no trouble with a long path; clients
 * get a short link when they need one.
 */
export function socketInCluster(cluster: string): SocketDirectory {
  if (fits(cluster)) return { forServer: ".", forClients: cluster, remove: () => {} };
  const { directory, remove } = makePrivateDirectory(tmpdir());
  const link = path.join(directory, "cluster");
  symlinkSync(cluster, link);
  return { forServer: ".", forClients: link, remove };
}

/** A private directory for the socket, for file systems without sockets (directories of macOS mounted into containers). */
export function socketInTemporary(runAs: RunAs): SocketDirectory {
  // Root's own TMPDIR may be closed to the server's user.
  const { directory, remove } = makePrivateDirectory(runAs === undefined ? tmpdir() : "/tmp");
  if (runAs !== undefined) chownSync(directory, runAs.uid, runAs.gid);
  return { forServer: directory, forClients: directory, remove };
}

function makePrivateDirectory(parent: string): { directory: string; remove: () => void } {
  const prefix = path.join(parent, "tenantry-");
  const directory = mkdtempSync(fits(`${prefix}XXXXXX/cluster`) ? prefix : "/tmp/tenantry-");
  const remove = () => {
    process.off("exit", remove);
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", remove);
  return { directory, remove };
}

function fits(directory: string): boolean {
  return Buffer.byteLength(path.join(directory, socketFile)) <= maximumPath;
}
