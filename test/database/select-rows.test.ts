import { sql } from "kysely";
import { expect, test } from "vitest";
import { selectRows } from "../../src/database/select-rows.ts";
import { openTestDatabase } from "../support/test-database.ts";

const odd = `"quoted" 'single' \\back\\ {brace,comma} NULL \n\t\u0001 $1 é 🦖 \ue000`;

/** Columns of the types that tables of resources have. */
const table = `create table things (
  id uuid, name text, labels jsonb, size numeric, count bigint, hash bytea, time timestamptz(3), is_old boolean,
  words text[], untouched text default 'default', address inet)`;

const row = (index: number) => ({
  id: `00000000-0000-7000-8000-00000000000${index}`,
  name: [odd, "", "NULL", "null"][index % 4],
  labels: [JSON.stringify({ [odd]: odd, b: "1", a: "2" }), "{}", '{"big": 12345678901234567890.10}'][index % 3],
  size: ["0.10", "123456789012345678901234567890.5", null][index % 3],
  count: 9_007_199_254_740_993n + BigInt(index),
  hash: Buffer.from([0, 92, 255, index]),
  time: index % 2 === 0 ? new Date(1_700_000_000_123) : null,
  is_old: index % 2 === 0,
  untouched: undefined,
  address: "127.0.0.1",
});

/** An array that several rows share. */
const words = ["one", odd];

test("stores the same as a list of values, whatever is in the rows", async () => {
  const database = await openTestDatabase();
  const rows = Array.from({ length: 6 }, (_, index) => ({ ...row(index), words, time_text: undefined }));
  await database.writes.transaction().execute(async (db) => {
    await sql.raw(table).execute(db);
    const columns = Object.keys(rows[0] ?? {}).filter((column) => !["untouched", "time_text"].includes(column));
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const lists = rows.map(
      (each) => sql`(${sql.join(columns.map((column) => sql`${(each as Record<string, unknown>)[column]}`))})`,
    );
    await sql`insert into things (${names}) values ${sql.join(lists)}`.execute(db);
    const read = async () => (await sql`select things::text as text from things order by id`.execute(db)).rows;
    const expected = await read();
    await sql`delete from things`.execute(db);
    const selected = selectRows("things", rows);
    expect(selected?.columns).toEqual(columns);
    await sql`insert into things (${names}) ${selected?.select}`.execute(db);
    expect(await read()).toEqual(expected);
    expect(expected).toHaveLength(6);
  });
});

test("rounds a time that is given in microseconds, as a list of values does", async () => {
  const database = await openTestDatabase();
  const times = ["2030-01-31T23:59:59.000501Z", "2030-01-31T23:59:59.000499Z"];
  await database.writes.transaction().execute(async (db) => {
    await sql.raw(table).execute(db);
    const selected = selectRows(
      "things",
      times.map((time, index) => ({ name: String(index), time })),
    );
    await sql`insert into things (name, time) ${selected?.select}`.execute(db);
    const { rows } = await sql`select time from things order by name`.execute(db);
    expect(rows).toEqual([
      { time: new Date("2030-01-31T23:59:59.001Z") },
      { time: new Date("2030-01-31T23:59:59.000Z") },
    ]);
  });
});

test("inserts what an expression makes of a column", async () => {
  const database = await openTestDatabase();
  await database.writes.transaction().execute(async (db) => {
    await sql.raw(table).execute(db);
    const rows = [{ labels: '{"a": "1"}' }, { labels: null }, { labels: '{"c": "2"}' }];
    const selected = selectRows("things", rows, { labels: (own) => sql`${'{"b": "3"}'}::jsonb || ${own}` });
    await sql`insert into things (labels) ${selected?.select}`.execute(db);
    const { rows: stored } = await sql`select labels from things`.execute(db);
    expect(stored).toEqual([{ labels: { a: "1", b: "3" } }, { labels: null }, { labels: { b: "3", c: "2" } }]);
  });
});

test.each([
  ["have different columns", [{ id: 1, name: "a" }, { id: 2 }]],
  ["leave out a column that others have", [{ id: 1 }, { id: 2, name: "a" }]],
  [
    "leave a column undefined that others have",
    [
      { id: 1, name: "a" },
      { id: 2, name: undefined },
    ],
  ],
  ["have different arrays", [{ words: ["a"] }, { words: ["b"] }]],
  [
    "have objects",
    [
      { id: 1, labels: {} },
      { id: 2, labels: {} },
    ],
  ],
  [
    "have expressions",
    [
      { id: 1, time: sql`now()` },
      { id: 2, time: sql`now()` },
    ],
  ],
  [
    "share an expression",
    ((time) => [
      { id: 1, time },
      { id: 2, time },
    ])(sql`gen_random_uuid()`),
  ],
  ["are the same", [{ id: 1 }, { id: 1 }]],
  ["are none", []],
])("leaves rows to a list of values that %s", (_what, rows) => {
  expect(selectRows("things", rows)).toBeUndefined();
});
