// Tests that a network that drops packets without closing connections costs one deadline, not the service.
import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, sql } from "kysely";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { type ConnectionPool, createConnectionPool } from "../../src/database/connection-pool.ts";
import { type ConnectionWatch, createConnectionWatch } from "../../src/database/connection-watch.ts";
import { watchPool } from "../../src/database/pool-activity.ts";
import { createStatementTimes } from "../../src/database/statement-times.ts";
import { isDatabaseUnavailable } from "../../src/database/failure.ts";
import { createApiKey } from "../../src/identity/api-key.ts";
import { makePrivateFolder, serveTenantry } from "../support/command.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function startProxy(): Promise<SilentProxy> {
  const { url, drop } = await createTestDatabase();
  ended.push(drop);
  const proxy = await startSilentProxy(url);
  ended.push(() => proxy.close());
  return proxy;
}

async function openPool(deadlineMs: number): Promise<{ proxy: SilentProxy; pool: ConnectionPool; errors: string[] }> {
  const proxy = await startProxy();
  const connections = new pg.Pool({ connectionString: proxy.url, max: 3 });
  const errors: string[] = [];
  connections.on("error", ({ message }) => errors.push(message));
  connections.on("connect", (client) => client.on("error", () => {}));
  const watch = createConnectionWatch(200);
  ended.push(() => watch.close());
  return { proxy, pool: createPool(connections, watch, deadlineMs), errors };
}

function createPool(connections: pg.Pool, watch: ConnectionWatch, deadlineMs: number): ConnectionPool {
  const watched = watchPool("test", connections);
  return createConnectionPool({
    watched,
    watch,
    deadlineMs,
    names: undefined,
    descriptionsOf: undefined,
    times: createStatementTimes(),
  });
}

const longMs = 60_000;
const one = { text: "select 1 as one", values: [] };

describe("a connection that falls silent", () => {
  test("is discarded with all others that have not answered since", async () => {
    const { proxy, pool, errors } = await openPool(longMs);
    await Promise.all([1, 2, 3].map(() => pool.run({ text: "select pg_sleep(0.1)", values: [] }, longMs)));
    expect(proxy.count()).toBe(3);
    proxy.silence();
    const failure: unknown = await pool.run(one, 200).catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    expect(await pool.run(one, longMs)).toEqual([{ one: 1 }]);
    await expect.poll(() => proxy.count()).toBe(1);
    expect(errors).toEqual(Array(2).fill("Connection terminated: the database server does not answer"));
  });

  test("fails the statement of a transaction, and the next transaction gets a new one", async () => {
    // Long enough for a new connection, also on a busy machine.
    const { proxy, pool } = await openPool(4_000);
    const db = new Kysely<object>({ dialect: pool.dialect });
    const failure: unknown = await db
      .transaction()
      .execute(async (transaction) => {
        await sql`select 1`.execute(transaction);
        proxy.silence();
        await sql`select 1`.execute(transaction);
      })
      .catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test("does not take along one that works, whatever its statement takes", async () => {
    const { proxy, pool } = await openPool(longMs);
    await Promise.all([1, 2].map(() => pool.run(one, longMs)));
    proxy.silence();
    const silent = pool.run(one, 300).catch((error: unknown) => error);
    const alsoSilent = pool.run(one, longMs).catch((error: unknown) => error);
    // The pool opens a connection for it, which works.
    const slow = pool.run({ text: "select 2 as two, pg_sleep(1)", values: [] }, longMs);
    expect(isDatabaseUnavailable(await silent)).toBe(true);
    expect(isDatabaseUnavailable(await alsoSilent)).toBe(true);
    expect(await slow).toMatchObject([{ two: 2 }]);
  });

  test("does not stay open when its pool is closed", async () => {
    const proxy = await startProxy();
    const connections = new pg.Pool({ connectionString: proxy.url, max: 2 });
    const open = new Set<pg.PoolClient>();
    connections.on("connect", (client) => open.add(client.on("error", () => {})));
    connections.on("remove", (client) => open.delete(client)).on("error", () => {});
    const watch = createConnectionWatch();
    const pool = createPool(connections, watch, longMs);
    await Promise.all([1, 2].map(() => pool.run({ text: "select pg_sleep(0.1)", values: [] }, longMs)));
    expect(open.size).toBe(2);
    proxy.silenceForGood();
    await watch.close();
    await expect.poll(() => open.size).toBe(0);
  });
});

describe("a service whose database connections fall silent", () => {
  test("is ready again after one health check, and answers", async () => {
    const proxy = await startProxy();
    const server = await startTestServer({ databaseUrl: proxy.url });
    ended.push(() => server.close());
    const get = async (path: string, key: string): Promise<number> =>
      (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;
    const orgs = "/iam/v1alpha/orgs";
    // Opens connections, and starts no write that would wait for its own deadline.
    const strangers = Array.from({ length: 8 }, () => get(orgs, createApiKey().secret));
    expect(await Promise.all(strangers)).toEqual(Array(8).fill(401));
    proxy.silence();
    expect(await get("/readyz", "")).toBe(503);
    await expect.poll(() => get("/readyz", "")).toBe(200);
    expect(await get(orgs, server.operatorKey)).toBe(200);
  });

  test("closes without waiting for them", async () => {
    const proxy = await startProxy();
    const server = await startTestServer({ databaseUrl: proxy.url });
    proxy.silence();
    await server.close();
    await expect.poll(() => proxy.count()).toBe(0);
  });

  test("does not wait for their statements after SIGTERM, also if new connections are silent and none is closed", async () => {
    const proxy = await startProxy();
    const { folder, remove } = await makePrivateFolder(undefined);
    ended.push(remove);
    const served = await serveTenantry({ cwd: folder, env: { HOME: folder, DATABASE_URL: proxy.url } });
    ended.push(() => served.signal("SIGKILL"));
    proxy.silenceForGood();
    // All jobs begin a run, which is not answered. Runs that followed would each take as long as this one.
    await sleep(4_000);
    expect(await served.signal("SIGTERM")).toBe(0);
    expect(served.output.stdout).toContain("stopped");
    // It has ended before the deadline of the statements, at which their connections are discarded.
    expect(served.output.stdout).not.toContain("a database connection failed");
  });
});
