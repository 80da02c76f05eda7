import { spawnSync } from "node:child_process";
import path from "node:path";

import { Client } from "pg";
import { describe, expect } from "vitest";

import { rounds } from "../../support/rounds.ts";
import { required } from "../../../src/errors/required.ts";
import { findServerProcess } from "../../../src/database/embedded/server-process.ts";
import { type Owner, daemon, isRoot, processesIn, query, serverPid, test, users } from "./harness.ts";

const container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc"];
const hasNamespaces = spawnSync(container[0] ?? "", [...container.slice(1), "true"]).status === 0;
const hasSetpriv = spawnSync("setpriv", ["--version"]).status === 0;

describe("two owners", () => {
  test("cannot share one directory; the error of the second names the first", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const first = await scratch.start({ directory });
    await expect(scratch.start({ directory })).rejects.toMatchObject({
      reason: "IN_USE",
      message: expect.stringMatching(`${directory}/cluster is in use by another process \\(tenantry ${first.pid}\\)`),
    });
    expect(await query(first.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await first.stop();
  });

  test("that start at once on a new directory elect one of them", async ({ scratch }) => {
    const directory = await scratch.make("data");
    const winner = await elect(() => scratch.start({ directory }));
    await query(winner.connection, "create table t (x int)");
    await winner.stop();
  });

  test.for(rounds(users.slice(-1), users))(
    "that start at once beside an orphaned server elect one of them, as $name",
    async (user, { scratch }) => {
      const directory = await scratch.makeDatabase("data", user);
      let owner = await scratch.start({ directory, user });
      await query(owner.connection, "create table t as select 1 as x");
      for (let times = 0; times < rounds(1, 2); times++) {
        await owner.kill();
        owner = await elect(() => scratch.start({ directory, user }));
        expect(await query(owner.connection, "select x from t")).toEqual([{ x: 1 }]);
      }
      await owner.stop();
    },
  );

  test("are distinguished by the lock when the process table does not suffice", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const first = await scratch.start({ directory });
    await first.kill();
    // This session holds the owner's lock in the orphaned server, as an owner in another container would.
    const holder = new Client({ ...first.connection, database: "postgres", application_name: "tenantry 4711" });
    holder.on("error", () => {});
    await holder.connect();
    await holder.query("select pg_advisory_lock($1)", [0x74656e61_6e747279n]);
    await expect(scratch.start({ directory })).rejects.toMatchObject({
      reason: "IN_USE",
      message: expect.stringContaining("another process (tenantry 4711)"),
    });
    await holder.end();
    await (await scratch.start({ directory })).stop();
  });

  test.skipIf(!isRoot)("do not stop an orphaned server that accepts only another user", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data", daemon);
    // Root runs the server as the owner of the database, and the server accepts root only.
    const first = await scratch.start({ directory });
    await first.kill();
    await expect(scratch.start({ directory, user: daemon })).rejects.toMatchObject({
      reason: "IN_USE",
      message: expect.stringMatching(
        `by a PostgreSQL server \\(process ${await serverPid(directory)}\\) that Tenantry started as another user. Stop that`,
      ),
    });
    const second = await scratch.start({ directory });
    await second.stop();
    // Every server accepts root, whoever started it.
    const third = await scratch.start({ directory, user: daemon });
    await third.kill();
    await (await scratch.start({ directory })).stop();
  });

  test.skipIf(!isRoot || !hasSetpriv)(
    "are distinguished in a container, where root has fewer privileges",
    async ({ scratch }) => {
      const directory = await scratch.makeDatabase("data");
      // Containers remove these capabilities, so root cannot read the working directories of other users' processes.
      const through = ["setpriv", "--bounding-set", "-sys_ptrace,-sys_admin"];
      const first = await scratch.start({ directory, through });
      await expect(scratch.start({ directory, through })).rejects.toMatchObject({ reason: "IN_USE" });
      await query(first.connection, "create table t as select 1 as x");
      await first.kill();
      const second = await scratch.start({ directory, through });
      expect(await query(second.connection, "select x from t")).toEqual([{ x: 1 }]);
      await second.stop();
    },
  );

  test.skipIf(!hasNamespaces)("are distinguished across containers that share a volume", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const first = await scratch.start({ directory });
    await expect(scratch.start({ directory, through: container })).rejects.toMatchObject({
      reason: "IN_USE",
      message: expect.stringContaining("not a process of this machine"),
    });
    await query(first.connection, "select 1");
    await first.stop();
  });

  test.skipIf(!hasNamespaces)("can follow each other in a container with the same process ids", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    for (const _ of [1, 2]) {
      const owner = await scratch.start({ directory, through: container });
      await query(owner.connection, "create table if not exists t (x int)", "insert into t values (1)");
      await owner.kill();
      // The kernel ends what else is in the container after its first process.
      await expect.poll(() => processesIn(path.join(directory, "cluster"))).toEqual([]);
    }
    const last = await scratch.start({ directory });
    expect(await query(last.connection, "select count(*)::int from t")).toEqual([{ count: 2 }]);
    await last.stop();
  });

  test("are found with ps if there is no /proc", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const cluster = path.join(directory, "cluster");
    const { pid: owner, stop } = await scratch.start({ directory });
    const pid = await serverPid(directory);
    expect(await findServerProcess(pid, cluster, "darwin")).toEqual({ pid, parent: owner, owner });
    expect(await findServerProcess(pid, path.dirname(cluster), "darwin")).toBeUndefined();
    expect(await findServerProcess(owner, cluster, "darwin")).toBeUndefined();
    await stop();
    expect(await findServerProcess(pid, cluster, "darwin")).toBeUndefined();
  });
});

/** Starts some owners at once. Returns the only one that has the database. */
async function elect(start: () => Promise<Owner>): Promise<Owner> {
  const starts = await Promise.allSettled(Array.from({ length: rounds(2, 4) }, start));
  const winners = starts.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(winners).toHaveLength(1);
  for (const each of starts) {
    if (each.status === "rejected") expect(each.reason).toMatchObject({ reason: "IN_USE" });
  }
  return required(winners[0]);
}
