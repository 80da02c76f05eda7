import { type Kysely, type QueryExecutorProvider, sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { inTransaction } from "../../src/changes/write-in-org.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { StatementNames } from "../../src/database/prepared-statements.ts";
import { createTestDatabase, openTestDatabase } from "../support/test-database.ts";

/** Returns the texts that a connection has prepared. */
async function preparedOn<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db);
  return rows.map(({ statement }) => statement);
}

const double = (number: number) => sql<{ doubled: number }>`select ${number}::int * 2 as doubled`;

describe("a statement of a transaction", () => {
  test("is prepared when it returns, once for each connection", async () => {
    const database = await openTestDatabase();
    await database.writes.connection().execute(async (db) => {
      for (const [number, prepared] of [
        [1, 0],
        [2, 1],
        [3, 1],
      ] as const) {
        const { rows } = await double(number).execute(db);
        expect(rows).toEqual([{ doubled: number * 2 }]);
        expect(await preparedOn(db)).toHaveLength(prepared);
      }
    });
  });

  test("is not prepared if the connections may not keep it", async () => {
    const { url, drop } = await createTestDatabase();
    const database = openDatabase({
      connection: { connectionString: url },
      prepareStatements: false,
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    for (const number of [1, 2, 3]) await double(number).execute(database.writes);
    for (const each of [1, 2]) await database.readPrepared("one", "select $1::int as one", [each]);
    expect(await preparedOn(database.writes)).toEqual([]);
    expect(await preparedOn(database.reads)).toEqual([]);
    await database.close();
    await drop();
  });

  test("is planned again after a table has got another column, and its transaction is repeated", async () => {
    const database = await openTestDatabase();
    const readAll = (db: QueryExecutorProvider) => sql<object>`select * from things where id > ${0}`.execute(db);
    await sql`create table things as select 1 as id`.execute(database.writes);
    await database.writes.connection().execute(async (db) => {
      for (const _ of [1, 2]) await readAll(db);
    });
    await sql`alter table things add column name text default 'a'`.execute(database.reads);
    const attempts: number[] = [];
    const { rows } = await inTransaction(database, (db) => {
      attempts.push(attempts.length);
      return readAll(db);
    });
    expect(rows).toEqual([{ id: 1, name: "a" }]);
    expect(attempts).toHaveLength(2);
  });
});

describe("statements that are read together", () => {
  const texts = ["select $1::int * 2 as doubled", "select current_setting('lock_timeout') as set"] as const;
  const known = (isKept: boolean, values: readonly number[] = [4]) => [
    { text: texts[0], values, isKept },
    { text: texts[1], values: [], isKept },
  ];
  const settings = () => ({ lock_timeout: "7s" });

  async function open(prepareStatements: boolean): Promise<Database> {
    const { url, drop } = await createTestDatabase();
    const database = openDatabase({
      connection: { connectionString: url },
      prepareStatements,
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    onTestFinished(async () => {
      await database.close();
      await drop();
    });
    return database;
  }

  describe.each([true, false])("with prepared statements: %s", (prepareStatements) => {
    test("return their rows, and have settings that end with the transaction", async () => {
      const database = await open(prepareStatements);
      await sql`set lock_timeout = 0`.execute(database.reads);
      expect(await database.readTogether(known(false), settings)).toEqual([[{ doubled: 8 }], [{ set: "7s" }]]);
      const { rows } = await sql`select current_setting('lock_timeout') as set`.execute(database.reads);
      expect(rows).toEqual([{ set: "0" }]);
    });

    test("fail with the error of the first that fails, and leave no transaction behind", async () => {
      const database = await open(prepareStatements);
      const failing = [{ text: "select 1 / $1::int", values: [0], isKept: true }, ...known(true)];
      for (let round = 0; round < 3; round++) {
        await expect(database.readTogether(failing, settings)).rejects.toMatchObject({ code: "22012" });
        const begun = sql`select from pg_stat_activity where pid = pg_backend_pid() and xact_start < query_start`;
        expect((await begun.execute(database.reads)).rows).toEqual([]);
      }
      expect(await database.readTogether(known(true), settings)).toEqual([[{ doubled: 8 }], [{ set: "7s" }]]);
    });
  });

  test("are prepared from their second time on, if they may be kept", async () => {
    const database = await open(true);
    for (const _ of [1, 2, 3]) await database.readTogether(known(false), settings);
    await database.readTogether(known(true), settings);
    expect(await preparedOn(database.reads)).toEqual([]);
    for (const _ of [1, 2]) await database.readTogether(known(true), settings);
    expect((await preparedOn(database.reads)).toSorted()).toEqual([...texts].toSorted());
  });

  test("are not prepared if the connections may not keep them", async () => {
    const database = await open(false);
    for (const _ of [1, 2, 3]) await database.readTogether(known(true), settings);
    expect(await preparedOn(database.reads)).toEqual([]);
  });

  test("are planned again after a table has got another column", async () => {
    const database = await open(true);
    await sql`create table things as select 1 as id`.execute(database.writes);
    const all = [{ text: "select * from things", values: [], isKept: true }];
    for (const _ of [1, 2]) expect(await database.readTogether(all, settings)).toEqual([[{ id: 1 }]]);
    await sql`alter table things add column name text default 'a'`.execute(database.writes);
    expect(await database.readTogether(all, settings)).toEqual([[{ id: 1, name: "a" }]]);
  });
});

test("a look-up whose statement is out of date is answered", async () => {
  const database = await openTestDatabase();
  const read = () => database.readPrepared("find_thing", "select * from things where id = $1", [1]);
  await sql`create table things as select 1 as id`.execute(database.writes);
  for (const _ of [1, 2]) expect(await read()).toEqual([{ id: 1 }]);
  await sql`alter table things add column name text default 'a'`.execute(database.writes);
  for (const _ of [1, 2]) expect(await read()).toEqual([{ id: 1, name: "a" }]);
});

describe("names of statements", () => {
  test("differ, and stay", () => {
    const names = new StatementNames();
    const texts = ["select 1", "select 2"];
    expect(texts.map((text) => names.nameOf(text))).toEqual([undefined, undefined]);
    const given = texts.map((text) => names.nameOf(text));
    expect(new Set(given).size).toBe(2);
    expect(texts.map((text) => names.nameOf(text))).toEqual(given);
  });

  test("are never used for another text", () => {
    const names = new StatementNames();
    const name = (text: string) => [names.nameOf(text), names.nameOf(text)][1];
    const first = name("select 1");
    names.end();
    expect(new Set([first, name("select 2"), name("select 1")]).size).toBe(3);
  });

  test("are bounded, whatever a caller varies", () => {
    const names = new StatementNames();
    const named = Array.from({ length: 5000 }, (_, index) => `select ${index}`).filter((text) => {
      names.nameOf(text);
      return names.nameOf(text) !== undefined;
    });
    expect(named).toHaveLength(400);
    expect(names.nameOf(`select '${"a".repeat(5000)}'`)).toBeUndefined();
    expect(names.nameOf(`select '${"a".repeat(5000)}'`)).toBeUndefined();
  });
});
