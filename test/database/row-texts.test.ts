import fc from "fast-check";
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import type { StatementResult } from "../../src/database/connection-pool.ts";
import type { Database } from "../../src/database/database.ts";
import { createRowTexts } from "../../src/database/row-texts.ts";
import { fuzzParameters } from "../support/fuzz-parameters.ts";
import { openTestDatabase } from "../support/test-database.ts";

let database: Database;

beforeEach(async () => {
  database = await openTestDatabase();
});

async function run(text: string, values: readonly unknown[] = []) {
  let fields: StatementResult["fields"] = [];
  const rowsOf = (result: StatementResult): object[] => {
    ({ fields } = result);
    return result.rows;
  };
  const [rows = []] = await database.readTogether([{ text, values, isKept: false, rowsOf }], () => ({}));
  return { rows: rows as object[], fields };
}

/** Reads rows as they are, and made of their texts. */
async function readBoth(text: string, values: readonly unknown[] = []) {
  const { rows, fields } = await run(text, values);
  const texts = createRowTexts(fields);
  const read = await run(texts.statementOf(text), values);
  return { rows, made: (read.rows as { text: string }[]).map((row) => texts.rowOf(row.text)), read: read.rows };
}

test("rows that are made of texts are those of pg, with their columns in the same order", async () => {
  const { rows, made } = await readBoth(`
    select 'a' as text, '' as empty, null::text as none, 'Ä😀' || chr(31) as wide, true as yes, null::bool as no, 7::int2 as small, 7 as plain,
      7000000000 as large, 0.5::numeric as half, '2026-11-26 10:00:00.123+00'::timestamptz as time, null::timestamptz as never, '84b8552e-61ae-4d80-aacb-37e9d4f1bc4a'::uuid as id,
      '{"a\\"b": [1, "c\\u001f"]}'::jsonb as json, '{"a" :1}'::json as spaced, array['x y', null, '', chr(31), '"'] as tags, '{}'::text[] as nothing,
      '\\x001f'::bytea as bytes, '10.0.0.1'::inet as address, '2001:db8::/32'::inet as net, 'ab'::char(4) as padded, ''::varchar as varying, ''::name as named, 'it''s' as "Select", 1 as "page"
    from generate_series(1, 2)`);
  expect(made).toEqual(rows);
  expect(Object.keys(made[0] ?? {})).toEqual(Object.keys(rows[0] ?? {}));
});

test("there may be more columns than a function of PostgreSQL has arguments", async () => {
  const columns = Array.from({ length: 120 }, (_, index) => `${index % 2 ? `'v${index}'` : index} as c${index}`);
  const { rows, made } = await readBoth(`select ${columns.join(", ")}`);
  expect(made).toEqual(rows);
});

test("texts are the same if the values are, and only then", async () => {
  const value = fc.option(
    fc
      .oneof(
        fc.string({ unit: fc.constantFrom("a", "1", "\x1f", ",", '"', "\\", "\n", "é", "😀"), maxLength: 4 }),
        fc.string({ unit: "grapheme" }),
      )
      .map((text) => text.replaceAll("\0", "")),
  );
  const record = fc.record({ a: value, b: value, n: fc.option(fc.nat(12)), c: value });
  const text = `
    select given ->> 'a' as a, given ->> 'b' as b, (given ->> 'n')::int as n, given ->> 'c' as c
    from jsonb_array_elements($1) with ordinality as given (given, number) order by number`;
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 100 }), async (records) => {
      const { rows, made, read } = await readBoth(text, [JSON.stringify(records)]);
      expect(rows).toEqual(records);
      expect(made).toEqual(records);
      const distinct = (all: readonly unknown[]): number => new Set(all.map((each) => JSON.stringify(each))).size;
      expect(distinct(read)).toBe(distinct(records));
    }),
    fuzzParameters(50),
  );
});

test("a text needs no columns of its own", () => {
  const field = (name: string, dataTypeID: number) => ({ name, dataTypeID }) as pg.FieldDef;
  const texts = createRowTexts([field("id", 23), field("name", 25), field("note", 25)]);
  expect(texts.rowOf("7\x1f3\x1f\x1fada")).toEqual({ id: 7, name: "ada", note: null });
  expect(texts.rowOf("\x1f4\x1f0\x1fÄda")).toEqual({ id: null, name: "Äda", note: "" });
});
