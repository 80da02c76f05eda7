import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";

import { describe, expect } from "vitest";

import { parsePostmasterPid } from "../../../src/database/embedded/postmaster-pid.ts";
import { rounds } from "../../support/rounds.ts";
import { isRoot, query, test } from "./harness.ts";

describe("parsePostmasterPid", () => {
  test.for([
    ["", undefined],
    ["\n", undefined],
    ["0\n", undefined],
    ["12a\n", undefined],
    ["99999999999\n", undefined],
    ["4711\n/data\n1795231690\n5432\n", { pid: 4711, socketDirectory: undefined, status: undefined }],
    [
      "4711\n/data\n1795231690\n5432\n.\n\n 10084993 4\nready   \n",
      { pid: 4711, socketDirectory: ".", status: "ready" },
    ],
    ["-4711\n/data\n1795231690\n5432\n", { pid: 4711, socketDirectory: undefined, status: undefined }],
  ] as const)("reads %j", ([text, expected]) => {
    expect(parsePostmasterPid(text)).toEqual(expected);
  });
});

describe("the lock file of the server", () => {
  const lockFile = (directory: string) => `${directory}/cluster/postmaster.pid`;

  test("can be empty or corrupt", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    for (const text of rounds(["", "garbage\n"], ["", "garbage\n", "0\n", "99999999999999\n"])) {
      await writeFile(lockFile(directory), text);
      await writeFile(`${directory}/cluster/.s.PGSQL.5432.lock`, text);
      await (await scratch.start({ directory })).stop();
    }
  });

  test("can name another process that has the same id by now", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const first = await scratch.start({ directory });
    const text = await readFile(lockFile(directory), "utf8");
    await first.stop();
    // A process of the server's user, which PostgreSQL would take for a server.
    const { uid, gid } = await stat(`${directory}/cluster`);
    const other = spawn("sleep", ["60"], { ...(isRoot && { uid, gid }), stdio: "ignore", cwd: `${directory}/cluster` });
    await once(other, "spawn");
    for (const file of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
      await writeFile(`${directory}/cluster/${file}`, text.replace(/^\d+/, String(other.pid)));
    }
    await (await scratch.start({ directory })).stop();
    expect(other.exitCode).toBeNull();
    other.kill();
  });

  test("can name the server of another directory, which keeps running", async ({ scratch }) => {
    const [directory, elsewhere] = [await scratch.makeDatabase("data"), await scratch.makeDatabase("elsewhere")];
    const other = await scratch.start({ directory: elsewhere });
    await writeFile(lockFile(directory), await readFile(lockFile(elsewhere)));
    await (await scratch.start({ directory })).stop();
    expect(await query(other.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await other.stop();
  });

  test("can name a missing process while the server responds, in which case the start fails", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const owner = await scratch.start({ directory });
    const text = await readFile(lockFile(directory), "utf8");
    await writeFile(lockFile(directory), text.replace(/^\d+/, "2147483646"));
    await expect(scratch.start({ directory })).rejects.toMatchObject({
      reason: "IN_USE",
      message: expect.stringContaining("not a process of this machine"),
    });
    await writeFile(lockFile(directory), text);
    await owner.stop();
  });
});
