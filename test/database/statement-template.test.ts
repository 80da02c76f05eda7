import { sql } from "kysely";
import { expect, test } from "vitest";
import { createStatementTemplate } from "../../src/database/statement-template.ts";
import { useSharedDatabase } from "./shared-database.ts";

const database = useSharedDatabase();

test("a statement is compiled once, for any values, each of which may be used several times", async () => {
  let compiled = 0;
  const statement = createStatementTemplate<{ first: string; both: string; fixed: string }>(
    2,
    (db, [first, second]) => {
      compiled++;
      return db
        .selectNoFrom([
          sql<string>`${first}::text`.as("first"),
          sql<string>`${second}::text || ${first}::text`.as("both"),
          sql<string>`${"constant"}::text`.as("fixed"),
        ])
        .compile();
    },
  );
  const run = async (...values: unknown[]) => {
    const { reads } = database();
    return (await reads.executeQuery(statement(reads, values))).rows;
  };
  expect(await run("a", "b")).toEqual([{ first: "a", both: "ba", fixed: "constant" }]);
  expect(await run("' $1", null)).toEqual([{ first: "' $1", both: null, fixed: "constant" }]);
  expect(compiled).toBe(1);
});

test("an expression is no value", () => {
  const statement = createStatementTemplate(1, (db, [value]) => sql`select ${value}`.compile(db));
  expect(() => statement(database().reads, [sql`now()`])).toThrow("a value of a statement is an expression");
});
