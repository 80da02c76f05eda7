import fc from "fast-check";
import pg from "pg";
import { expect, test } from "vitest";
import { parseTimestamp } from "../../src/database/parse-timestamp.ts";
import { useSharedDatabase } from "./shared-database.ts";
import { sql } from "kysely";

const shared = useSharedDatabase();
const parseWithPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

test.each([
  "2026-11-22 02:30:22.123+00",
  "2026-11-22 02:30:22+00",
  "2026-11-22 02:30:22.1+00",
  "2026-11-22 02:30:22.057999+00",
  "2024-02-29 23:59:59.999+00",
  "1969-12-31 23:59:59.5+00",
  "0099-01-01 00:00:00+00",
  "0100-01-01 00:00:00.01+00",
  "10000-01-01 00:00:00+00",
  "0044-03-15 12:00:00+00 BC",
  "2026-11-22 04:30:22.123+02",
  "2026-11-22 08:00:22.123+05:30",
  "infinity",
  "-infinity",
])("reads %s as pg does", (text) => {
  expect(parseTimestamp(text)).toEqual(parseWithPg(text));
});

test("reads any time of the years 1 to 10000 that PostgreSQL writes as pg does", async () => {
  const max = new Date("9999-12-31T23:59:59.999Z");
  const times = fc.sample(fc.date({ min: new Date("0001-01-01T00:00:00Z"), max, noInvalidDate: true }), 2000);
  const seconds = times.map((time) => time.getTime() / 1000);
  const { rows } = await sql<{ text: string }>`
    select to_timestamp(second)::text as text from unnest(${seconds}::double precision[]) as second`.execute(
    shared().reads,
  );
  expect(rows.map(({ text }) => parseTimestamp(text))).toEqual(rows.map(({ text }) => parseWithPg(text)));
});
