import { randomBytes } from "node:crypto";
import type { KyselyPlugin } from "kysely";
import { sql } from "kysely";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { type Database, checkServer, openDatabase } from "../../src/database/database.ts";
import { databaseUrl } from "../support/database-url.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { useSharedDatabase } from "./shared-database.ts";

const shared = useSharedDatabase();

/** The same database, on another server. */
function pretend(database: Database, version: string): Database {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => Promise.resolve({ ...result, rows: [{ version, encoding: "UTF8" }] }),
  };
  return { ...database, reads: database.reads.withPlugin(plugin) };
}

describe("the server's version", () => {
  test("is returned if it is supported", async () => {
    const database = shared();
    const version = await checkServer(database);
    expect(Number.parseInt(version, 10)).toBeGreaterThanOrEqual(15);
  });

  test.each(["14.20", "9.6.24", "14.5 (Debian 14.5-1.pgdg110+1)"])(
    "%s is rejected with an error that names the required version",
    async (old) => {
      const database = pretend(shared(), old);
      await expect(checkServer(database)).rejects.toThrow(
        `the database server is PostgreSQL ${old}; Tenantry needs 15 or newer`,
      );
    },
  );

  test.each(["15.0", "15beta1", "18.4 (Debian 18.4-1)", "100.1"])("%s is accepted", async (version) => {
    const database = pretend(shared(), version);
    expect(await checkServer(database)).toBe(version);
  });
});

test("a database with an encoding that does not have all characters is rejected", async () => {
  const name = `latin_${randomBytes(6).toString("hex")}`;
  await sql.raw(`create database ${name} encoding 'LATIN1' locale 'C' template template0`).execute(shared().writes);
  const database = openDatabase({
    connection: { connectionString: databaseUrl(inject("serverUrl"), name) },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(async () => {
    await database.close();
    await sql.raw(`drop database ${name}`).execute(shared().writes);
  });
  await expect(checkServer(database)).rejects.toThrow("the database has the encoding LATIN1; Tenantry needs UTF8");
});

describe("a connection", () => {
  test("reads the keys of JSON as they are stored, whatever JSON was read before", async () => {
    const stored = { first: 1, '"': { "\\": [0.5, "a\\"] } };
    JSON.parse(String.raw`{"first":1,"\\":2}`);
    const database = shared();
    const { rows } = await sql`select ${stored}::jsonb as jsonb, ${stored}::json as json`.execute(database.reads);
    expect(rows).toEqual([{ jsonb: stored, json: stored }]);
    const prepared = await database.readPrepared("test_keys", "select $1::jsonb as jsonb", [stored]);
    expect(prepared).toEqual([{ jsonb: stored }]);
  });

  test("has timeouts for statements, locks and idle transactions, and compiles no statement", async () => {
    const database = shared();
    for (const pool of [database.reads, database.writes]) {
      const { rows } = await sql`
        select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit,
          current_setting('application_name') as name
      `.execute(pool);
      expect(rows).toEqual([{ statement: "30s", lock: "10s", idle: "30s", jit: "off", name: "tenantry" }]);
    }
  });

  test("of a lookup waits for a lock for less than its deadline, after which all silent connections would be discarded", async () => {
    const database = shared();
    const limits = "select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock";
    expect(await database.readPrepared("limits", limits, [])).toEqual([{ statement: "8s", lock: "4s" }]);
    await sql`create table things as select 1 as one`.execute(database.writes);
    await database.writes.transaction().execute(async (db) => {
      await sql`lock table things in access exclusive mode`.execute(db);
      const lookup = database.readPrepared("things", "select one from things", []);
      await expect(lookup).rejects.toMatchObject({ code: "55P03" });
    });
  });

  test.each([
    ["none", { prepareStatements: false }],
    ["its statements", { isPooled: true }],
  ])("gets them in each transaction, shorter ones in lists, behind a pooler that keeps %s", async (_what, mode) => {
    const { url, drop } = await createTestDatabase();
    const connection = { connectionString: url };
    const database = openDatabase({
      connection,
      ...mode,
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError() {},
    });
    onTestFinished(async () => {
      await database.close();
      await drop();
    });
    const { reads, writes } = database;
    const found: unknown[] = [];
    const jit = sql<{ set: string }>`select current_setting('jit') as set`;
    for (const pool of [reads, writes]) {
      await sql`set jit = on`.execute(pool);
      found.push((await pool.transaction().execute((db) => jit.execute(db))).rows[0]?.set);
      expect((await jit.execute(pool)).rows).toEqual([{ set: "on" }]);
      const settings = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
      for (const name of settings) await sql`set ${sql.raw(name)} = 0`.execute(pool);
      const read = sql<{ set: string }>`select current_setting(unnest(${settings}::text[])) as set`;
      for (const transaction of [pool.transaction(), pool.transaction().setIsolationLevel("serializable")]) {
        found.push((await transaction.execute((db) => read.execute(db))).rows.map(({ set }) => set));
      }
      expect((await read.execute(pool)).rows).toEqual(settings.map(() => ({ set: "0" })));
    }
    const usual = ["30s", "10s", "30s"];
    expect(found).toEqual(["off", usual, usual, "off", usual, usual]);
  });

  test("for reads is available while all connections for writes are in use", async () => {
    const database = shared();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const writers = Array.from({ length: 12 }, () => database.writes.transaction().execute(() => released));
    await expect(database.readPrepared("one", "select 1 as one", [])).resolves.toEqual([{ one: 1 }]);
    release();
    await Promise.all(writers);
  });
});
