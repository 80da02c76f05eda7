import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import { type WriteTransaction, transact } from "../../src/database/write-transaction.ts";
import { createTestDatabase } from "../support/test-database.ts";

let created: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  created = await createTestDatabase();
});
afterAll(async () => {
  await created.drop();
});

// Where statements are not prepared, they are not sent together either.
describe.each([true, false])(
  "a statement that is sent with the next one, with prepared statements: %s",
  (prepareStatements) => {
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

    const add = (db: WriteTransaction, id: number) =>
      db.sendWithNext(sql<{ id: number }>`insert into things values (${id}) returning id`.compile(db));
    const ids = async (db: Kysely<Schema>): Promise<number[]> => {
      const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(db);
      return rows.map(({ id }) => id);
    };

    /** Runs a transaction, and returns what became of the statement that it sends with the next one. */
    const outcomeIn = async (run: (db: WriteTransaction) => Promise<Promise<unknown>[]>): Promise<unknown[]> => {
      const held: Promise<unknown>[] = [];
      await transact(database, async (db) => held.push(...(await run(db)))).catch(() => {});
      return Promise.all(held.map((each) => each.catch((error: unknown) => error)));
    };

    test("is seen by the next one", async () => {
      const seen = await transact(database, async (db) => {
        void add(db, 1);
        void add(db, 2);
        return ids(db);
      });
      expect(seen).toEqual([1, 2]);
    });

    test("has its rows when the next one has run", async () => {
      await transact(database, async (db) => {
        const steps: string[] = [];
        const sums = [1, 2].map(async (number) => {
          const rows = await db.sendWithNext(sql<{ sum: number }>`select ${number}::int + 1 as sum`.compile(db));
          steps.push("has its rows");
          return rows;
        });
        await ids(db);
        steps.push("next");
        expect(await Promise.all(sums)).toEqual([[{ sum: 2 }], [{ sum: 3 }]]);
        expect(steps).toEqual(["has its rows", "has its rows", "next"]);
      });
    });

    test("is not kept by a transaction that only tries what it would write, of which nobody is told", async () => {
      const told: unknown[] = [];
      const end = database.commits.subscribe(
        (committed) => told.push(committed),
        () => {},
      );
      const note = { orgId: "", before: undefined, entries: [], lockedAt: 0 };
      const tried = await transact(
        database,
        async (db) => {
          void add(db, 10);
          db.noteWritten(note);
          return ids(db);
        },
        "rollback",
      );
      expect([tried.includes(10), (await ids(database.reads)).includes(10), told]).toEqual([true, false, []]);
      // The connection is used again.
      await transact(database, async (db) => {
        void add(db, 11);
        db.noteWritten(note);
      });
      end();
      expect([(await ids(database.reads)).includes(11), told]).toEqual([true, [note]]);
      await sql`delete from things where id = 11`.execute(database.writes);
    });

    test("is committed if there is no other, and has its rows then", async () => {
      const added = await transact(database, (db) => Promise.resolve({ rows: add(db, 3) }));
      expect(await ids(database.reads)).toContain(3);
      expect(await added.rows).toEqual([{ id: 3 }]);
    });

    test("fails the next one with its own error, and nothing is stored", async () => {
      const steps: string[] = [];
      const outcomes = await outcomeIn(async (db) => {
        const held = [add(db, 4), add(db, 1)];
        steps.push("sent with the next one");
        await expect(sql`insert into things values (5)`.execute(db)).rejects.toMatchObject({ code: "23505" });
        steps.push("refused");
        return held;
      });
      expect(steps).toEqual(["sent with the next one", "refused"]);
      expect(outcomes).toMatchObject([{ code: "23505" }, { code: "23505" }]);
      expect(await ids(database.writes)).not.toContain(4);
    });

    test("fails the commit if there is no other", async () => {
      const failing = transact(database, async (db) => {
        await sql`insert into things values (6)`.execute(db);
        void add(db, 1);
      });
      await expect(failing).rejects.toMatchObject({ code: "23505" });
      expect(await ids(database.writes)).not.toContain(6);
    });

    test("fails the end of a transaction that only tries what it would write", async () => {
      const failing = transact(database, async (db) => void add(db, 1), "rollback");
      await expect(failing).rejects.toMatchObject({ code: "23505" });
      expect(await ids(database.writes)).toContain(1);
    });

    test("is not sent when the transaction is rolled back", async () => {
      let held: Promise<unknown> = Promise.resolve();
      const failing = transact(database, (db) => {
        held = add(db, 7);
        throw new Error("refused");
      });
      await expect(failing).rejects.toThrow("refused");
      await expect(held).rejects.toThrow("the transaction was rolled back");
      expect(await ids(database.writes)).not.toContain(7);
    });

    test("is undone with the savepoint that it is in", async () => {
      await transact(database, async (db) => {
        void db.sendWithNext(sql`savepoint before`.compile(db));
        void add(db, 8);
        await sql`rollback to savepoint before`.execute(db);
        expect(await ids(db)).not.toContain(8);
        void add(db, 9);
      });
      expect(await ids(database.writes)).toContain(9);
    });

    test("of a transaction whose connection is lost is not stored, and the reason for its end is told", async () => {
      const endOwn = (db: WriteTransaction) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
      const losing = transact(database, (db) => {
        void add(db, 12);
        return endOwn(db);
      });
      await expect(losing).rejects.toMatchObject({ code: "57P01" });
      const refused = transact(database, async (db) => {
        void add(db, 13);
        await endOwn(db).catch(() => {});
        throw new Error("refused");
      });
      await expect(refused).rejects.toThrow("refused");
      const stored = await ids(database.writes);
      expect(stored).not.toContain(12);
      expect(stored).not.toContain(13);
    });

    test("is none of the transaction that the connection runs afterwards", async () => {
      await transact(database, (db) => {
        void add(db, 10);
        throw new Error("refused");
      }).catch(() => {});
      await transact(database, (db) => {
        void add(db, 11);
        return ids(db);
      });
      const stored = await ids(database.writes);
      expect(stored).toContain(11);
      expect(stored).not.toContain(10);
    });
  },
);
