import { readdir, readFile, readlink, stat } from "node:fs/promises";
import path from "node:path";

import { describe, expect } from "vitest";

import { isRunning, query, serverPid, takeTurns, test, users } from "./harness.ts";

describe.each(users)("the embedded PostgreSQL, started by $name", (user) => {
  takeTurns(user);

  test("keeps its data between runs, and lets Node exit", async ({ scratch }) => {
    const directory = path.join(await scratch.make("data", user), "deep", "postgres");

    const first = await scratch.start({ directory, user });
    await query(first.connection, "create table t (x int)", "insert into t values (1)");
    const server = await serverPid(directory);
    await first.stop();
    expect(await isRunning(server)).toBe(false);

    const second = await scratch.start({ directory, user });
    expect(await query(second.connection, "select x from t")).toEqual([{ x: 1 }]);
    await second.stop();
    expect(await readdir(directory)).toEqual(["cluster"]);
  });

  test("listens on a private socket and no port, with default settings for a small service and the given ones", async ({
    scratch,
  }) => {
    const directory = await scratch.makeDatabase("data", user);
    const { connection } = await scratch.start({ directory, user, settings: { fsync: "on", shared_buffers: "64MB" } });
    const host = path.join(directory, "cluster");
    expect(connection).toEqual({ host, port: 5432, user: "tenantry", database: "tenantry" });
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(host, ".s.PGSQL.5432"))).mode & 0o777).toBe(0o700);
    expect(await tcpSockets(await serverPid(directory))).toEqual([]);

    const [settings] = await query(
      connection,
      `select jsonb_object_agg(name, current_setting(name)) as all from unnest(array['fsync', 'shared_buffers',
         'listen_addresses', 'jit', 'max_connections', 'TimeZone', 'data_checksums', 'server_encoding']) name`,
    );
    expect(settings).toEqual({
      all: {
        fsync: "on",
        shared_buffers: "64MB",
        listen_addresses: "",
        jit: "off",
        max_connections: "100",
        TimeZone: "UTC",
        data_checksums: "on",
        server_encoding: "UTF8",
      },
    });
    expect(
      await query(connection, "select datlocprovider, datlocale from pg_database where datname = 'tenantry'"),
    ).toEqual([{ datlocprovider: "b", datlocale: "C.UTF-8" }]);
    // No connection of Tenantry is open in its database, so that it can be the template of another one.
    await query({ ...connection, database: "postgres" }, "create database copy template tenantry");
  });

  test("ignores Ctrl-C of the terminal, but stops when Node exits without stopping it", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data", user);
    const owner = await scratch.start({ directory, user });
    const server = await serverPid(directory);
    process.kill(-owner.pid, "SIGINT");
    await owner.event(({ event }) => event === "interrupted");
    expect(await query(owner.connection, "select 1 as one")).toEqual([{ one: 1 }]);

    owner.send("exit");
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect(serverPid(directory)).rejects.toThrow("ENOENT");
  });
});

/** Returns the open TCP sockets of a process. */
async function tcpSockets(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const open = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  const tables = await Promise.all(["tcp", "tcp6"].map((table) => readFile(`/proc/${pid}/net/${table}`, "utf8")));
  const tcp = new Set(
    tables.flatMap((table) => table.split("\n").map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`)),
  );
  return open.filter((link) => tcp.has(link));
}
