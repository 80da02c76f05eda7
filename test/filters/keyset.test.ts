import * as fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { comesAfter, cursorOf, orderExpressions, withUniqueKey } from "../../src/filters/keyset.ts";
import { type OrderKey, parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { type Thing, storeThings, thing, thingFields } from "./things.ts";

const shared = useSharedDatabase();
const read = (text: string): readonly OrderKey[] => withUniqueKey(parseOrderBy(text, thingFields), ["things.id"]);

/** Reads a page with a statement like those of lists, which order the rows in an outer query with another alias. */
async function readPage(order: readonly OrderKey[], after: readonly string[] | undefined, limit: number) {
  const { rows } = await sql<Thing>`
    select * from (select * from things where ${comesAfter(order, after)}) as found
    order by ${orderExpressions(order, "found")} limit ${limit}`.execute(shared().reads);
  return rows;
}

/** Reads all pages as a client does. Cursors are converted to JSON and back. */
async function readAll(order: readonly OrderKey[], size: number): Promise<string[]> {
  const ids: string[] = [];
  let after: readonly string[] | undefined;
  for (;;) {
    const rows = await readPage(order, after, size);
    ids.push(...rows.map((row) => row.id));
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return ids;
    after = JSON.parse(JSON.stringify(cursorOf(order, last))) as string[];
  }
}

const compareTexts = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Compares two rows by a field, without SQL. */
const comparisons: Readonly<Record<string, (one: Thing, other: Thing) => number>> = {
  id: (one, other) => compareTexts(one.id, other.id),
  name: (one, other) => compareTexts(one.name, other.name),
  display_name: (one, other) => compareTexts(one.display_name, other.display_name),
  count: (one, other) => one.count - other.count,
  create_time: (one, other) => one.create_time.getTime() - other.create_time.getTime(),
  delete_time: (one, other) => timeOf(one.delete_time) - timeOf(other.delete_time),
};

/** NULL is after all times. */
const timeOf = (time: Date | null): number => time?.getTime() ?? 1e15;

const inOrder = (things: readonly Thing[], order: readonly [field: string, descending: boolean][]): string[] =>
  things
    .toSorted((one, other) => {
      for (const [field, descending] of order) {
        const difference = comparisons[field]?.(one, other) ?? 0;
        if (difference !== 0) return descending ? -difference : difference;
      }
      return (order.at(-1)?.[1] ? -1 : 1) * compareTexts(one.id, other.id);
    })
    .map((row) => row.id);

const word = fc.constantFrom("", "a", "B", "b", "ä", "😀", "\uffee", "a b", "-");
const instant = fc.constantFrom(new Date("2026-01-01T00:00:00Z"), new Date("2026-01-01T00:00:00.001Z"), new Date(0));
const randomThings = fc
  .array(
    fc.record({
      id: fc.uuid(),
      name: word,
      display_name: word,
      count: fc.integer({ min: -1, max: 1 }),
      create_time: instant,
      delete_time: fc.option(instant),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((rows) => rows.map((row) => thing(row)));
const randomOrder = fc
  .shuffledSubarray(Object.keys(comparisons), { maxLength: 3 })
  .chain((fields) => fc.tuple(...fields.map((field) => fc.tuple(fc.constant(field), fc.boolean()))));

test("pages of 1, 3 and 7 rows contain each row once, in the requested order", async () => {
  await fc.assert(
    fc.asyncProperty(randomThings, fc.array(randomOrder, { minLength: 4, maxLength: 4 }), async (things, orders) => {
      await storeThings(shared(), things);
      for (const order of orders) {
        const text = order.map(([field, descending]) => (descending ? `${field} desc` : field)).join(", ");
        const expected = inOrder(things, order);
        for (const size of [1, 3, 7]) expect(await readAll(read(text), size)).toEqual(expected);
      }
    }),
    { numRuns: 40 },
  );
});

describe("the statement of a page", () => {
  const compiled = (text: string, cursor: readonly string[]) => comesAfter(read(text), cursor).compile(shared().reads);

  test("compares the key as a row value if all directions are the same", () => {
    expect(compiled("create_time", ["1", "2"]).sql).toBe(`(("things"."create_time", "things"."id") > ($1, $2))`);
    expect(compiled("create_time desc", ["1", "2"]).sql).toBe(`(("things"."create_time", "things"."id") < ($1, $2))`);
    expect(compiled("", ["1"]).sql).toBe(`(("things"."id") > ($1))`);
  });

  test("passes the values of the cursor as parameters", () => {
    const { sql: text, parameters } = compiled("name desc, create_time", ["v1", "v2", "v3"]);
    expect(text).not.toContain("v");
    expect(parameters).toEqual(["v1", "v1", "v2", "v2", "v3"]);
  });

  test("does not name a unique column twice", () => {
    expect(read("id desc").map(({ column }) => column)).toEqual(["things.id"]);
  });

  test("rejects a cursor of another order", () => {
    expect(() => comesAfter(read("name"), ["a"])).toThrow("a cursor of 1 values for an order by 2 columns");
  });
});

test("a row without a column of the order causes an error that names the column", () => {
  expect(() => cursorOf(read("name"), { id: "x" })).toThrow(
    "a row cannot be ordered by things.name, which is undefined",
  );
  expect(() => cursorOf(read("create_time"), { id: "x", create_time: null })).toThrow(
    "a row cannot be ordered by things.create_time, which is null",
  );
});
