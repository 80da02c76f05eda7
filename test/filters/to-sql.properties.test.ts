import * as fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { rounds } from "../support/rounds.ts";
import { randomFilter, randomThing } from "./random-filter.ts";
import { storeThings, thingFields } from "./things.ts";

const shared = useSharedDatabase();
const tables = 4;
const rowsPerTable = 200;
const filtersPerTable = rounds(100, 20_000);

test("any filter matches the same rows as its predicate in plain code", async () => {
  const filter = randomFilter();
  let selective = 0;
  for (let table = 0; table < tables; table++) {
    const things = fc.sample(randomThing, rowsPerTable);
    await storeThings(shared(), things);
    await fc.assert(
      fc.asyncProperty(filter, async ({ text, matches }) => {
        const { rows } = await sql<{ id: string }>`
          select id from things where ${toSql(readFilter(text, thingFields))}`.execute(shared().reads);
        const found = new Set(rows.map((row) => row.id));
        expect(things.filter((row) => found.has(row.id) !== matches(row))).toEqual([]);
        if (found.size > 0 && found.size < rowsPerTable) selective++;
      }),
      { numRuns: filtersPerTable },
    );
  }
  // Filters that match all rows or none would make a weak test.
  expect(selective).toBeGreaterThan((tables * filtersPerTable) / 3);
});
