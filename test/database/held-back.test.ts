import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { heldBack } from "../../src/database/held-back.ts";
import type { Schema } from "../../src/database/schema.ts";
import { createTestDatabase } from "../support/test-database.ts";

let created: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  created = await createTestDatabase();
});
afterAll(async () => {
  await created.drop();
});

// Where statements are not prepared, they are not sent together either.
describe.each([true, false])("a statement that is held back, with prepared statements: %s", (prepareStatements) => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase({
      connection: { connectionString: created.url },
      prepareStatements,
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    await sql`drop table if exists things`.execute(database.writes);
    await sql`create table things (id integer primary key)`.execute(database.writes);
  });
  afterAll(() => database.close());

  const add = (db: Kysely<Schema>, id: number) => sql`insert into things values (${id}) ${heldBack}`.execute(db);
  const ids = async (db: Kysely<Schema>): Promise<number[]> => {
    const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(db);
    return rows.map(({ id }) => id);
  };

  test("is seen by the next one", async () => {
    const seen = await database.writes.transaction().execute(async (db) => {
      await add(db, 1);
      await add(db, 2);
      return ids(db);
    });
    expect(seen).toEqual([1, 2]);
  });

  test("has its rows when the next one has run", async () => {
    await database.writes.transaction().execute(async (db) => {
      const held = await sql<{ sum: number }>`select 1 + 1 as sum ${heldBack}`.execute(db);
      const other = await sql<{ sum: number }>`select 1 + 2 as sum ${heldBack}`.execute(db);
      expect([held.rows, other.rows]).toEqual([[], []]);
      await ids(db);
      expect([held.rows, other.rows]).toEqual([[{ sum: 2 }], [{ sum: 3 }]]);
    });
  });

  test("is committed if there is no other", async () => {
    await database.writes.transaction().execute((db) => add(db, 3));
    expect(await ids(database.reads)).toContain(3);
  });

  test("fails the next one with its own error, and nothing is stored", async () => {
    const steps: string[] = [];
    const failing = database.writes.transaction().execute(async (db) => {
      await add(db, 4);
      await add(db, 1);
      steps.push("held back");
      await sql`insert into things values (5)`.execute(db);
      steps.push("not reached");
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(steps).toEqual(["held back"]);
    expect(await ids(database.writes)).not.toContain(4);
  });

  test("fails the commit if there is no other", async () => {
    const failing = database.writes.transaction().execute(async (db) => {
      await sql`insert into things values (6)`.execute(db);
      await add(db, 1);
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await ids(database.writes)).not.toContain(6);
  });

  test("is forgotten when the transaction is rolled back", async () => {
    const failing = database.writes.transaction().execute(async (db) => {
      await add(db, 7);
      throw new Error("refused");
    });
    await expect(failing).rejects.toThrow("refused");
    expect(await ids(database.writes)).not.toContain(7);
  });

  test("is run at once outside of a transaction", async () => {
    await add(database.writes, 8);
    expect(await ids(database.reads)).toContain(8);
  });
});
