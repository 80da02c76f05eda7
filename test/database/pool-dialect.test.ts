import { Kysely, sql } from "kysely";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { createPoolDialect } from "../../src/database/pool-dialect.ts";
import type { Schema } from "../../src/database/schema.ts";
import { transact } from "../../src/database/write-transaction.ts";

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

const run = (held: readonly string[], next?: string): Promise<unknown> =>
  transact({ writes, commits: { tell: () => {} } }, async (db) => {
    for (const text of held) db.sendWithNext(sql.raw(text).compile(db));
    if (next !== undefined) await sql.raw(next).execute(db);
  });

const lock = "with locked as materialized (select id from orgs for no key update) select id from locked";
const setting = "select set_config('lock_timeout', '1s', true)";

test("the beginning of a transaction is sent with what only reads and locks", async () => {
  await run([setting, lock], "select 1");
  expect(sent).toEqual([["begin", setting, lock, "select 1"], ["commit"]]);
});

describe.each([
  "insert into orgs (id) values (1)",
  "delete from orgs",
  "update orgs set name = 'a'",
  "with moved as (update orgs set name = 'a' returning id) select id from moved",
  "with new as (select 1) insert\n into orgs select from new",
  "create table things (id integer)",
])("%s", (write) => {
  test.each([
    { what: "is the first statement", held: [], next: write, after: [[write], ["commit"]] },
    {
      what: "is sent with the first one",
      held: [setting, write],
      next: lock,
      after: [[setting, write, lock], ["commit"]],
    },
    { what: "is sent with the commit", held: [write], next: undefined, after: [[write, "commit"]] },
  ])("waits for the beginning if it $what", async ({ held, next, after }) => {
    await run(held, next);
    expect(sent).toEqual([["begin"], ...after]);
    sent = [];
    refusal = new Error("cancelled");
    await expect(run(held, next)).rejects.toThrow("cancelled");
    expect(sent).toEqual([["begin"], ["rollback"]]);
  });
});
