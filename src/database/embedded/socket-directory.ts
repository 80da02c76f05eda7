import { chownSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { RunAs } from "./run-as.ts";

/** The location of the server's socket, in a directory that only the server's user can enter. There is no TCP port. */
export interface SocketDirectory {
  /** The path that the server uses. The server's working directory is the cluster. */
  readonly forServer: string;
  /** The path that clients use, absolute and short. */
  readonly forClients: string;
  /** Removes the temporary directory, if one was created. */
  remove(): void;
}

/** The file name that PostgreSQL gives the socket. */
export const socketFile = ".s.PGSQL.5432";

/** The address of a socket is at most 108 bytes on Linux and 104 on macOS, including the NUL. */
const maximumPath = 100;

/**
 * Puts the socket into the cluster, which only its owner can enter. There, a later start and other containers that mount the
 * same volume can find it. The server uses ".", so its path may be long; clients get a short link if they need one.
 */
export function socketInCluster(cluster: string): SocketDirectory {
  if (fits(cluster)) return { forServer: ".", forClients: cluster, remove: () => {} };
  const { directory, remove } = makePrivateDirectory(tmpdir());
  const link = path.join(directory, "cluster");
  symlinkSync(cluster, link);
  return { forServer: ".", forClients: link, remove };
}

/**
 * Puts the socket into a private temporary directory, for file systems without sockets (macOS directories mounted into
 * containers).
 */
export function socketInTemporary(runAs: RunAs): SocketDirectory {
  // The TMPDIR of root may not be accessible to the server's user.
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
