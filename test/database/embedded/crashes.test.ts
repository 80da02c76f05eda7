import { readFile } from "node:fs/promises";

import { Client } from "pg";
import { describe, expect } from "vitest";

import { eventually, isRunning, query, serverPid, takeTurns, test, users } from "./harness.ts";

describe.each(users)("after a crash, as $name", (user) => {
  takeTurns(user);

  test("of Node, the next start stops the orphaned server; of both, PostgreSQL recovers; the data is kept", async ({
    scratch,
  }) => {
    const directory = await scratch.makeDatabase("data", user);
    const first = await scratch.start({ directory, user });
    await query(first.connection, "create table t as select 1 as x");
    const leftover = await serverPid(directory);
    await first.kill();
    expect(await isRunning(leftover)).toBe(true);

    const second = await scratch.start({ directory, user });
    expect(await isRunning(leftover)).toBe(false);
    expect(second.events).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining(`process ${leftover}`) }),
    );
    expect(await query(second.connection, "select x from t")).toEqual([{ x: 1 }]);

    const server = await serverPid(directory);
    await second.kill();
    process.kill(server, "SIGKILL");
    const third = await scratch.start({ directory, user });
    expect(await query(third.connection, "select x from t")).toEqual([{ x: 1 }]);
    await third.stop();
  });

  test("of the server, the owner restarts it", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data", user);
    const owner = await scratch.start({ directory, user });
    await query(owner.connection, "create table t as select 1 as x");
    const killed = await serverPid(directory);
    // Busy backends notice late that their server is gone, and no other server can start before that.
    const busy = new Client(owner.connection);
    busy.on("error", () => {});
    await busy.connect();
    const working = busy.query("select count(*) from generate_series(1, 4000000)").catch(() => {});

    process.kill(killed, "SIGKILL");
    await owner.event(({ message }) => message === "The embedded PostgreSQL server has restarted");
    expect(await eventually(() => query(owner.connection, "select x from t"))).toEqual([{ x: 1 }]);
    expect(await serverPid(directory)).not.toBe(killed);
    await working;

    // The owner has acquired its lock again.
    await expect(scratch.start({ directory, user })).rejects.toMatchObject({ reason: "IN_USE" });
    await owner.stop();
  });

  test("of Node during a recovery, the recovery is repeated", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data", user);
    const settings = { max_wal_size: "2GB", autovacuum: "off" };
    const first = await scratch.start({ directory, user, settings });
    await query(first.connection, "create table t as select x, repeat('x', 300) y from generate_series(1, 400000) x");
    const server = await serverPid(directory);
    await first.kill();
    process.kill(server, "SIGKILL");

    const second = scratch.start({ directory, user, settings });
    await eventually(async () => {
      expect(await serverPid(directory)).not.toBe(server);
    });
    const recovering = await serverPid(directory);
    process.kill(await parentOf(recovering), "SIGKILL");
    await expect(second).rejects.toThrow("The owner ended");

    const third = await scratch.start({ directory, user, settings });
    expect(await isRunning(recovering)).toBe(false);
    expect(await query(third.connection, "select count(*)::int from t")).toEqual([{ count: 400000 }]);
    await third.stop();
  });

  test("of one backend, the owner acquires its lock again", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data", user);
    const owner = await scratch.start({ directory, user });
    const locks = "select pid from pg_locks where locktype = 'advisory' and granted";
    const database = { ...owner.connection, database: "postgres" };
    const [before] = await query(database, locks);
    await query(database, "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'");
    await eventually(async () => {
      const [after] = await query(database, locks);
      expect(after).toBeDefined();
      expect(after).not.toEqual(before);
    });
    await owner.stop();
  });
});

describe("a server that keeps dying", () => {
  test("is restarted with longer and longer waits, which the log tells with the reason", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    const owner = await scratch.start({ directory });
    let killed = 0;
    for (let count = 1; count <= 3; count++) {
      // Meanwhile the server may be starting, or its lock file may be missing.
      killed = await eventually(async () => {
        const pid = await serverPid(directory);
        expect(pid !== killed && (await isRunning(pid)) && kill(pid)).toBe(true);
        return pid;
      });
    }
    expect(await eventually(() => query(owner.connection, "select 1 as x"))).toEqual([{ x: 1 }]);
    const endings = owner.events.filter(({ message }) => message?.includes("restarting it"));
    expect(JSON.stringify(endings[0])).toContain("SIGKILL");
    expect(endings.length).toBeGreaterThanOrEqual(3);
    await owner.stop();
  });
});

/** Returns false if the process has ended. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

async function parentOf(pid: number): Promise<number> {
  return Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);
}
