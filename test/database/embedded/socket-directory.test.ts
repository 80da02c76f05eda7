import { mkdir, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";

import { describe, expect } from "vitest";

import { query, takeTurns, test, users } from "./harness.ts";

describe.each(users)("the socket, as $name", (user) => {
  takeTurns(user);

  test("has a short path even if the path of the directory is long", async ({ scratch }) => {
    const directory = await scratch.makeDatabase(path.join("d".repeat(90), "e".repeat(90), "postgres"), user);
    const first = await scratch.start({ directory, user });
    const { host } = first.connection;
    expect(Buffer.byteLength(host)).toBeLessThan(85);
    expect((await stat(path.dirname(host))).mode & 0o777).toBe(0o700);
    await query(first.connection, "create table t (x int)");

    await expect(scratch.start({ directory, user })).rejects.toMatchObject({ reason: "IN_USE" });
    await first.kill();
    const second = await scratch.start({ directory, user });
    await query(second.connection, "select x from t");
    await second.stop();
    await expect(stat(path.dirname(second.connection.host))).rejects.toThrow("ENOENT");
  });

  test("is in a private temporary directory if the directory of the database does not support sockets", async ({
    scratch,
  }) => {
    const directory = await scratch.makeDatabase("data", user);
    // A directory in place of the socket simulates a file system without sockets: PostgreSQL fails at the same step.
    await mkdir(path.join(directory, "cluster", ".s.PGSQL.5432", "taken"), { recursive: true });

    const first = await scratch.start({ directory, user });
    const { host } = first.connection;
    expect(host).not.toContain(directory);
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    await query(first.connection, "create table t (x int)");
    await first.kill();
    const second = await scratch.start({ directory, user });
    await query(second.connection, "select x from t");
    await second.stop();
    await rm(host, { recursive: true, force: true });
    await expect(readdir(second.connection.host)).rejects.toThrow("ENOENT");
  });
});
