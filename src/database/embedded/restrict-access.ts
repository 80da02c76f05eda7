import { randomUUID } from "node:crypto";
import { chmod, open, rename, rm, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";

import { userWithoutName } from "./explain-start-failure.ts";
import { dataArgument, type RunAs } from "./run-as.ts";

const note = `# Tenantry replaces this file before each start of the server. Connections are accepted only from processes of the
# operating-system users in pg_ident.conf. If other clients need the database, run your own PostgreSQL and set DATABASE_URL.
`;

const clientAuthentication = `${note}
# TYPE  DATABASE         USER  METHOD
local   all,replication  all   peer map=tenantry
`;

/**
 * Ensures that the server will accept connections only from processes of this process's user and of root, and that only the
 * server's user and root can enter the cluster. Replaces the rules in the cluster, whether they are from initdb, an earlier
 * version or an operator. Must be called before the server is started.
 *
 * A client is identified by the kernel (peer authentication), so another process of the server's user cannot connect: if
 * root runs the service, the server runs as `nobody`, as other programs may. Root can become every user, so excluding it would
 * protect nothing, and it could not recognise a server that another user has left behind (clear-leftover.ts).
 *
 * @throws EmbeddedPostgresError START_FAILED if this process's user has no name: PostgreSQL compares names.
 */
export async function restrictAccess(cluster: string, runAs: RunAs): Promise<void> {
  const clients = new Set(["root", processUser(cluster)]);
  const names = [...clients].map((client) => `tenantry  ${quote(client)}  tenantry\n`);
  // Other modes are possible in a cluster that was copied, or that initdb did not create.
  if (((await stat(cluster)).mode & 0o077) !== 0) await chmod(cluster, 0o700);
  await replaceFile(path.join(cluster, "pg_ident.conf"), `${note}\n# MAP  CLIENT  USER\n${names.join("")}`, runAs);
  await replaceFile(path.join(cluster, "pg_hba.conf"), clientAuthentication, runAs);
}

/** Settings that make the server read these files, even if the cluster's own configuration names others. */
export function accessSettings(cluster: string, runAs: RunAs): Record<string, string> {
  const directory = dataArgument(cluster, runAs);
  return {
    hba_file: path.join(directory, "pg_hba.conf"),
    ident_file: path.join(directory, "pg_ident.conf"),
  };
}

function processUser(cluster: string): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw userWithoutName(process.geteuid?.(), cluster, { cause });
  }
}

/** Quotes a name as these files do: names of directory services contain spaces and backslashes. */
function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Replaces a file with one that only its owner, the server's user, can read. Follows no links: root writes into the directory
 * of a user who may have put one there.
 */
async function replaceFile(file: string, text: string, owner: RunAs): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    try {
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
