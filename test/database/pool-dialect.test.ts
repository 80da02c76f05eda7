import { Kysely, sql } from "kysely";
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { createPoolDialect } from "../../src/database/pool-dialect.ts";
import type { Schema } from "../../src/database/schema.ts";
import { type WriteTransaction, transact } from "../../src/database/write-transaction.ts";

/** The texts of the statements that were sent together. */
let sent: string[][];
/** What is answered to the beginning of a transaction. */
let refusal: Error | undefined;
beforeEach(() => {
  [sent, refusal] = [[], undefined];
});

const writes = new Kysely<Schema>({
  dialect: createPoolDialect({
    connect: () => Promise.resolve({ release: () => {} } as unknown as pg.PoolClient),
    send(_client, statements) {
      const texts = statements.map(({ text }) => text);
      sent.push(texts);
      if (refusal !== undefined && texts[0] === "begin") return Promise.reject(refusal);
      return Promise.resolve(texts.map(() => ({ command: "", rows: [] }) as unknown as pg.QueryResult<object>));
    },
    nameOf: () => undefined,
    settings: "",
  }),
});

const run = (write: (db: WriteTransaction) => unknown): Promise<unknown> =>
  transact({ writes, commits: { tell: () => {} } }, async (db) => write(db));

const [setting, lock, write] = ["set", "lock", "write"];
const read = 'select "id" from "orgs"';

const hold = (db: WriteTransaction, text: string) => db.sendWithNext(sql.raw(text).compile(db));
const holdRead = (db: WriteTransaction, text: string) => db.readWithNext(sql.raw(text).compile(db));
const select = (db: WriteTransaction) => db.selectFrom("orgs").select("id").execute();

test("the beginning of a transaction is sent with what is declared to read, and with a select", async () => {
  await run((db) => {
    holdRead(db, setting);
    holdRead(db, lock);
    return select(db);
  });
  await run((db) => {
    holdRead(db, lock);
    return db.sendHeld();
  });
  expect(sent).toEqual([["begin", setting, lock, read], ["commit"], ["begin", lock], ["commit"]]);
});

test.each([
  {
    what: "is the first statement",
    run: (db: WriteTransaction) => sql.raw(write).execute(db),
    after: [[write], ["commit"]],
  },
  {
    what: "is built, and the first statement",
    run: (db: WriteTransaction) => db.deleteFrom("orgs").execute(),
    after: [['delete from "orgs"'], ["commit"]],
  },
  {
    what: "is in a WITH clause of a select",
    run: (db: WriteTransaction) =>
      db
        .with("moved", (own) => own.deleteFrom("orgs").returning("id"))
        .selectFrom("moved")
        .select("id")
        .execute(),
    after: [['with "moved" as (delete from "orgs" returning "id") select "id" from "moved"'], ["commit"]],
  },
  {
    what: "is held, and sent with the first one",
    run: (db: WriteTransaction) => {
      holdRead(db, setting);
      hold(db, write);
      return select(db);
    },
    after: [[setting, write, read], ["commit"]],
  },
  {
    what: "is held, and sent with the commit",
    run: (db: WriteTransaction) => hold(db, write),
    after: [[write, "commit"]],
  },
])("what may write waits for the beginning if it $what", async ({ run: ofCase, after }) => {
  await run(ofCase);
  expect(sent).toEqual([["begin"], ...after]);
  sent = [];
  refusal = new Error("cancelled");
  await expect(run(ofCase)).rejects.toThrow("cancelled");
  expect(sent).toEqual([["begin"], ["rollback"]]);
});
