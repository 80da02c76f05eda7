import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import { type Later, type WriteTransaction, transact } from "../../src/database/write-transaction.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { unfollowed } from "../support/unfollowed.ts";

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

    /** Returns what became of a statement that is sent with the next one. */
    const outcomeOf = (rows: Later<unknown>): unknown => {
      try {
        return rows();
      } catch (error) {
        return error;
      }
    };

    test("is seen by the next one", async () => {
      const seen = await transact(database, async (db) => {
        add(db, 1);
        add(db, 2);
        return ids(db);
      });
      expect(seen).toEqual([1, 2]);
    });

    test("has its rows when the next one has run", async () => {
      await transact(database, async (db) => {
        const sums = [1, 2].map((number) =>
          db.sendWithNext(sql<{ sum: number }>`select ${number}::int + 1 as sum`.compile(db)),
        );
        await ids(db);
        expect(sums.map(outcomeOf)).toEqual([[{ sum: 2 }], [{ sum: 3 }]]);
      });
    });

    test("has no rows before that, and says so at once instead of waiting for ever", async () => {
      await transact(database, async (db) => {
        const rows = db.sendWithNext(sql<{ one: number }>`select 1 as one`.compile(db));
        expect(rows).toThrow("read before that one has run");
        const next = ids(db);
        expect(rows).toThrow("read before that one has run");
        await next;
        expect(rows()).toEqual([{ one: 1 }]);
      });
    });

    test("is not kept by a transaction that only tries what it would write, of which nobody is told", async () => {
      const told: unknown[] = [];
      const end = database.commits.subscribe(
        (committed) => told.push(committed),
        () => {},
      );
      const note = { ...unfollowed, orgId: "", before: undefined, entries: [], lockedAt: 0 };
      const tried = await transact(
        database,
        async (db) => {
          add(db, 10);
          db.noteWritten(note);
          return ids(db);
        },
        "rollback",
      );
      expect([tried.includes(10), (await ids(database.reads)).includes(10), told]).toEqual([true, false, []]);
      // The connection is used again.
      await transact(database, async (db) => {
        add(db, 11);
        db.noteWritten(note);
      });
      end();
      expect([(await ids(database.reads)).includes(11), told]).toEqual([true, [note]]);
      await sql`delete from things where id = 11`.execute(database.writes);
    });

    test("is committed if there is no other, and has its rows then", async () => {
      const added = await transact(database, (db) => Promise.resolve({ rows: add(db, 3) }));
      expect(await ids(database.reads)).toContain(3);
      expect(added.rows()).toEqual([{ id: 3 }]);
    });

    test("fails the next one with its own error, and nothing is stored", async () => {
      const failing = transact(database, async (db) => {
        const held = [add(db, 4), add(db, 1)];
        await expect(sql`insert into things values (5)`.execute(db)).rejects.toMatchObject({ code: "23505" });
        expect(held.map(outcomeOf)).toMatchObject([{ code: "23505" }, { code: "23505" }]);
      });
      await expect(failing).rejects.toThrow();
      expect(await ids(database.writes)).not.toContain(4);
    });

    test("fails the commit if there is no other", async () => {
      const failing = transact(database, async (db) => {
        await sql`insert into things values (6)`.execute(db);
        add(db, 1);
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
      let held: Later<unknown> = () => undefined;
      const failing = transact(database, (db) => {
        held = add(db, 7);
        throw new Error("refused");
      });
      await expect(failing).rejects.toThrow("refused");
      expect(held).toThrow("the transaction was rolled back");
      expect(await ids(database.writes)).not.toContain(7);
    });

    test("is undone with the savepoint that it is in", async () => {
      await transact(database, async (db) => {
        db.sendWithNext(sql`savepoint before`.compile(db));
        add(db, 8);
        await sql`rollback to savepoint before`.execute(db);
        expect(await ids(db)).not.toContain(8);
        add(db, 9);
      });
      expect(await ids(database.writes)).toContain(9);
    });

    test("of a transaction whose connection is lost is not stored, and the reason for its end is told", async () => {
      const endOwn = (db: WriteTransaction) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
      const losing = transact(database, (db) => {
        add(db, 12);
        return endOwn(db);
      });
      await expect(losing).rejects.toMatchObject({ code: "57P01" });
      const refused = transact(database, async (db) => {
        add(db, 13);
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
        add(db, 10);
        throw new Error("refused");
      }).catch(() => {});
      await transact(database, (db) => {
        add(db, 11);
        return ids(db);
      });
      const stored = await ids(database.writes);
      expect(stored).toContain(11);
      expect(stored).not.toContain(10);
    });
  },
);
