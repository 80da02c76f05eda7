import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";

import { describe, expect } from "vitest";

import { eventually, query, takeTurns, test, users } from "./harness.ts";

describe.each(users)("creating the cluster, as $name", (user) => {
  takeTurns(user);

  test("starts over after an interruption", async ({ scratch }) => {
    const directory = await scratch.make("data", user);
    const interrupted = scratch.start({ directory, user });
    const half = await eventually(async () => {
      const [found] = await readdir(directory);
      expect(await readdir(path.join(directory, found ?? "missing"))).toContain("global");
      return found ?? "";
    });
    process.kill(Number(/\.new-(\d+)-/.exec(half)?.[1]), "SIGKILL");
    await expect(interrupted).rejects.toThrow("The owner ended");
    expect(half).toMatch(/^cluster\.new-/);

    const owner = await scratch.start({ directory, user });
    expect(await query(owner.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await owner.stop();
    // initdb can outlive the process that started it for a moment.
    await eventually(async () => {
      const next = await scratch.start({ directory: await scratch.make("data", user), user });
      await next.stop();
      expect(await readdir(directory)).toEqual(["cluster"]);
    });
  });

  test("keeps the unfinished cluster of another running process, and other files, as of a mounted volume", async ({
    scratch,
  }) => {
    const directory = await scratch.make("data", user);
    const other = spawn("sleep", ["30"], { stdio: "ignore" });
    await once(other, "spawn");
    const theirs = `cluster.new-${other.pid}-1-abcdef`;
    const abandoned = "cluster.new-2147483646-1-abcdef";
    for (const name of [theirs, abandoned]) await scratch.make(path.join("data", name), user);
    await mkdir(path.join(directory, abandoned, "base"));
    await mkdir(path.join(directory, "lost+found"));
    await (await scratch.start({ directory, user })).stop();
    expect((await readdir(directory)).toSorted()).toEqual(["cluster", theirs, "lost+found"]);
    other.kill();
  });
});
