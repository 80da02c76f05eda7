import fc from "fast-check";
import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { createRowMemory, type RowMemory } from "../../src/database/kept-rows.ts";
import { splitRecord } from "../../src/database/split-record.ts";
import { fuzzParameters } from "../support/fuzz-parameters.ts";
import { openTestDatabase } from "../support/test-database.ts";

/** Reads rows of a table in the order of their ids, as a list does. */
async function readThings(database: Database, memory: RowMemory, orgId = "org", table = "things"): Promise<object[]> {
  const keptRows = memory.of(orgId, table);
  const text = `select * from ${table} where id >= $1 order by id limit $2`;
  const [rows = []] = await database.readTogether([{ text, values: [0, 100], isKept: true, keptRows }], () => ({}));
  return rows as object[];
}

async function openThings(count = 1): Promise<Database> {
  const database = await openTestDatabase();
  const run = (text: string) => database.readTogether([{ text, values: [], isKept: false }], () => ({}));
  await run(`
    create table things as select id, 'thing ' || id as name, null::text as note, true as made, now() as time, '{"a": [1, "b"]}'::jsonb as json,
      array['x y', null, ''] as tags, '\\x00ff'::bytea as bytes, 7000000000 as large from generate_series(1, ${count}) as id`);
  return database;
}

test("rows are those of pg, and the same objects while nothing has changed", async () => {
  const database = await openThings(3);
  const memory = createRowMemory(1_000_000);
  const plain = await readThings(database, createRowMemory(0));
  const first = await readThings(database, memory);
  const second = await readThings(database, memory);
  const third = await readThings(database, memory);
  for (const rows of [first, second, third]) expect(rows).toEqual(plain);
  expect(third.every((row, index) => row === second[index] && Object.isFrozen(row))).toBe(true);

  const change = "update things set note = 'a, \"b\" (c) \\ ' || chr(10), name = '', tags = '{}' where id = 2";
  await database.readTogether([{ text: change, values: [], isKept: false }], () => ({}));
  const changed = await readThings(database, memory);
  expect(changed).toEqual(await readThings(database, createRowMemory(0)));
  expect(changed[1]).toMatchObject({ note: 'a, "b" (c) \\ \n', name: "", tags: [] });
  expect([changed[0] === third[0], changed[1] === third[1], changed[2] === third[2]]).toEqual([true, false, true]);
});

test("rows of other tables and orgs are others, whatever they contain", async () => {
  const database = await openThings();
  const run = (text: string) => database.readTogether([{ text, values: [], isKept: false }], () => ({}));
  await run("create table numbers as select 1 as id, 2 as two");
  await run("create table letters as select 1 as id, '2' as two");
  const memory = createRowMemory(1_000_000);
  for (const _ of [1, 2, 3]) {
    expect(await readThings(database, memory, "org", "numbers")).toEqual([{ id: 1, two: 2 }]);
    expect(await readThings(database, memory, "org", "letters")).toEqual([{ id: 1, two: "2" }]);
  }
  const [ofOne] = await readThings(database, memory, "one", "numbers");
  expect((await readThings(database, memory, "one", "numbers"))[0]).toBe(ofOne);
  expect((await readThings(database, memory, "other", "numbers"))[0]).not.toBe(ofOne);
});

test("an org that reads many rows forgets its own, and not those of others", async () => {
  const database = await openThings(40);
  // Each of the rows takes about 4 kB, and an org gets a quarter of the memory.
  const memory = createRowMemory(480_000);
  const run = (text: string) => database.readTogether([{ text, values: [], isKept: false }], () => ({}));
  await run("create table few as select 1 as id");
  await readThings(database, memory, "few", "few");
  const few = await readThings(database, memory, "few", "few");
  await readThings(database, memory, "many");
  const [first, ...others] = await readThings(database, memory, "many");
  expect((await readThings(database, memory, "many"))[0]).not.toBe(first);
  expect(others).toHaveLength(39);
  expect((await readThings(database, memory, "few", "few"))[0]).toBe(few[0]);

  for (let org = 0; org < 8; org++) await readThings(database, memory, `org ${org}`);
  expect((await readThings(database, memory, "few", "few"))[0]).not.toBe(few[0]);
});

test("the values of a record are those that PostgreSQL wrote", async () => {
  const database = await openTestDatabase();
  const difficult = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", " ", ",", "(", ")", '"', "\\", "\n", "'", "{", "}", "é", "😀") }),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("", "NULL", "null", " ", '""', "\\N"),
  );
  const value = fc.option(difficult.map((text) => text.replaceAll("\0", "")));
  const text = `
    select row(record ->> 0, record ->> 1, record ->> 2)::text as record
    from jsonb_array_elements($1) with ordinality as given (record, number) order by number`;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(value, value, value), { maxLength: 100 }), async (records) => {
      const statement = { text, values: [JSON.stringify(records)], isKept: false };
      const [rows = []] = await database.readTogether([statement], () => ({}));
      expect((rows as { record: string }[]).map(({ record }) => splitRecord(record))).toEqual(records);
    }),
    fuzzParameters(50),
  );
});

test.each([
  ["()", [null]],
  ['("")', [""]],
  ["(,)", [null, null]],
  ['(a,"b ""c"" \\\\",)', ["a", 'b "c" \\', null]],
])("%s has the values %j", (text, values) => {
  expect(splitRecord(text)).toEqual(values);
});
