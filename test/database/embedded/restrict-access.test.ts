import { spawnSync } from "node:child_process";
import { chmod, chown, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";

import { describe, expect } from "vitest";

import {
  connectAs,
  eventually,
  isRoot,
  nobody,
  currentUser,
  query,
  serverPid,
  takeTurns,
  test,
  type User,
  users,
} from "./harness.ts";

const mountPasswd = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"'];
const canMount = spawnSync("unshare", ["--mount", "true"]).status === 0;
const onlyRoot = "only root can run processes of other users";

describe("a server started by root", () => {
  test("rejects other processes of its own user, and logs an error", async ({ scratch, skip }) => {
    skip(!isRoot, onlyRoot);
    const { connection, events } = await scratch.start({ directory: await scratch.makeDatabase("data") });
    expect((await stat(connection.host)).uid).toBe(nobody.uid);
    for (const user of ["tenantry", "postgres", "nobody"]) {
      await expect(connectAs(nobody, { ...connection, user })).rejects.toThrow(
        `Peer authentication failed for user "${user}"`,
      );
    }
    await expect(connectAs(nobody, { ...connection, database: "postgres" })).rejects.toThrow(
      "Peer authentication failed",
    );
    await eventually(async () => {
      expect(events).toContainEqual(
        expect.objectContaining({
          level: "error",
          message: 'PostgreSQL: Peer authentication failed for user "tenantry"',
        }),
      );
    });
    await connectAs(currentUser, connection);
  });

  test("rejects them after a restart with other rules in its directory", async ({ scratch, skip }) => {
    skip(!isRoot, onlyRoot);
    const directory = await scratch.makeDatabase("data");
    const owner = await scratch.start({ directory });
    await trustEveryone(owner.connection.host);
    process.kill(await serverPid(directory), "SIGKILL");
    await owner.event(({ message }) => message === "The embedded PostgreSQL server has restarted");
    await expect(connectAs(nobody, owner.connection)).rejects.toThrow("Peer authentication failed");
  });

  test("does not write through symbolic links of its user", async ({ scratch, skip }) => {
    skip(!isRoot, onlyRoot);
    const directory = await scratch.makeDatabase("data");
    const cluster = path.join(directory, "cluster");
    const target = path.join(directory, "target");
    await writeFile(target, "root's\n", { mode: 0o600 });
    for (const name of ["pg_hba.conf", "pg_ident.conf"]) {
      await rm(path.join(cluster, name));
      await symlink(target, path.join(cluster, name));
    }
    await (await scratch.start({ directory })).stop();
    expect(await readFile(target, "utf8")).toBe("root's\n");
    expect((await stat(target)).uid).toBe(0);
  });
});

test("a user name can require quotes in PostgreSQL's files", async ({ scratch, skip }) => {
  skip(!isRoot || !canMount, "may not mount another /etc/passwd");
  const directory = await scratch.makeDatabase("data");
  const passwd = path.join(directory, "passwd");
  await writeFile(passwd, 'CORP\\jane "j" doe, jr #1:x:0:0::/root:/bin/sh\n');
  const { connection } = await scratch.start({ directory, through: [...mountPasswd, passwd] });
  expect(await query(connection, "select sys_name from pg_ident_file_mappings where sys_name <> 'root'")).toEqual([
    { sys_name: 'CORP\\jane "j" doe, jr #1' },
  ]);
});

describe.each(users)("the embedded PostgreSQL, started by $name", (user) => {
  takeTurns(user);

  test("restores the rules of a database of an earlier version, and rules that an operator has changed", async ({
    scratch,
  }) => {
    const directory = await scratch.makeDatabase("data", user);
    const cluster = path.join(directory, "cluster");
    await trustEveryone(cluster);
    await chmod(cluster, 0o750);
    const { uid, gid } = await stat(cluster);

    const owner = await scratch.start({ directory, user });
    await expectPeerOnly(owner.connection, user);
    if (isRoot && user.uid === 0) {
      await expect(connectAs(nobody, owner.connection)).rejects.toThrow("Peer authentication failed");
    }
    expect(await modeAndOwner(cluster)).toEqual([0o700, uid, gid]);
    for (const name of ["pg_hba.conf", "pg_ident.conf"]) {
      expect(await modeAndOwner(path.join(cluster, name))).toEqual([0o600, uid, gid]);
      expect(await readFile(path.join(cluster, name), "utf8")).not.toMatch(/trust|someone/);
    }
    expect((await readdir(cluster)).filter((name) => /^pg_(hba|ident)\.conf./.test(name))).toEqual([]);
    await owner.stop();
  });

  test("accepts only this user and root, with peer authentication", async ({ scratch }) => {
    const { connection } = await scratch.start({ directory: await scratch.makeDatabase("data", user), user });
    await connectAs(user, connection);
    await connectAs(currentUser, connection);
    await expectPeerOnly(connection, user);
  });
});

/** Lets every user connect, like earlier versions, or like a change by an operator. */
async function trustEveryone(cluster: string): Promise<void> {
  const { uid, gid } = await stat(cluster);
  const trust = "local all all trust\nlocal replication all trust\n";
  const files = {
    "pg_hba.conf": trust,
    "pg_ident.conf": "tenantry someone tenantry\n",
    "other_hba.conf": trust,
    "postgresql.auto.conf": "hba_file = 'other_hba.conf'\nlisten_addresses = '*'\n",
  };
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(cluster, name);
    await writeFile(file, text);
    await chmod(file, 0o644);
    await chown(file, uid, gid);
  }
}

/** Checks the rules that the server has loaded. */
async function expectPeerOnly(connection: Parameters<typeof query>[0], user: User): Promise<void> {
  expect(
    await query(connection, "select type, database, user_name, auth_method, options from pg_hba_file_rules"),
  ).toEqual([
    {
      type: "local",
      database: ["all", "replication"],
      user_name: ["all"],
      auth_method: "peer",
      options: ["map=tenantry"],
    },
  ]);
  const names = await query(connection, "select map_name, sys_name, pg_username, error from pg_ident_file_mappings");
  const clients = [...new Set(["root", user.uid === currentUser.uid ? userInfo().username : user.name])];
  expect(names).toEqual(
    clients.map((name) => ({ map_name: "tenantry", sys_name: name, pg_username: "tenantry", error: null })),
  );
}

async function modeAndOwner(file: string): Promise<number[]> {
  const { mode, uid, gid } = await stat(file);
  return [mode & 0o777, uid, gid];
}
