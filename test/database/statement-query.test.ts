// How statements are sent and their rows are read, beside a client of pg that does both by itself.
import { CompiledQuery, sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { columnTypes } from "../../src/database/json-types.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createTestDatabase } from "../support/test-database.ts";

/** By what they have. */
const statements: Readonly<Record<string, string>> = {
  "columns of all kinds": `select $1::int as id, 1.50::numeric as amount, true as is_set, 'é😀' as name, null::text as nothing,
    9007199254740993::bigint as big, '\\xdeadbeef'::bytea as bytes, array['a', null, 'b"c'] as list, '2026-01-02T03:04:05.678901Z'::timestamptz as time,
    '{"a": [1, {"\\\\": 2}], "b": null}'::jsonb as data, 'x'::"char" as letter, '00000000-0000-0000-0000-000000000001'::uuid as uuid, 1e400::numeric as far,
    'NaN'::float8 as no_number, '10.0.0.1'::inet as address, int4range(1, 5) as range`,
  "many rows":
    "select id, case when id % 3 = 0 then null else repeat('x', id) end as text from generate_series(1, $1::int) as id",
  "no rows": "select $1::int as id where false",
  "no columns": "select from generate_series(1, $1::int)",
  "two columns of a name": "select $1::int as id, 'second' as id",
  "a column of an odd name": `select $1::int as "constructor", 2 as "a b", 3 as ""`,
  "rows that it inserts": "insert into things (id) select generate_series(1, $1::int) returning id, name",
  "nothing to return": "insert into things (id) values ($1)",
  "rows that it updates": "update things set name = 'other' where id = $1::int",
  "rows that it deletes": "delete from things where id = $1::int returning *",
  "an error while it runs": "select 10 / ($1::int - 4) as ratio",
  "an error after some rows": "select 10 / (4 - id) as ratio from generate_series(1, $1::int) as id",
};

async function openBoth(isPooled = false) {
  const { url, drop } = await createTestDatabase();
  const database = openDatabase({
    connection: { connectionString: url },
    isPooled,
    maxReadConnections: 2,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  const client = new pg.Client({ connectionString: url, types: columnTypes });
  await client.connect();
  onTestFinished(async () => {
    await Promise.all([database.close(), client.end()]);
    await drop();
  });
  await client.query("create table things (id int, name text default 'a')");
  return { database, client };
}

/** Returns the rows, or the code of the error. */
const outcome = <Result>(run: Promise<Result>): Promise<unknown> => run.catch((error: pg.DatabaseError) => error.code);

test.each(Object.entries(statements))("a statement with %s returns each time what pg returns", async (_what, text) => {
  const { database, client } = await openBoth();
  const transacted = async (value: number) =>
    (await database.writes.executeQuery(CompiledQuery.raw(text, [value]))).rows;
  const lookedUp = (value: number) => database.readPrepared("look_up", text, [value]);
  for (const value of [4, 4, 4, 2, 5]) {
    const outcomes: unknown[] = [];
    for (const run of [(each: number) => client.query(text, [each]).then(({ rows }) => rows), transacted, lookedUp]) {
      await client.query("delete from things");
      await client.query("insert into things select generate_series(1, 5)");
      outcomes.push(await outcome(run(value)));
    }
    expect(outcomes).toEqual([outcomes[0], outcomes[0], outcomes[0]]);
  }
});

test("how many rows a statement changes is known each time", async () => {
  const { database } = await openBoth();
  const insert = (value: number) =>
    sql`insert into things (id) select generate_series(1, ${value}::int)`.execute(database.writes);
  for (const value of [3, 0, 5, 1]) expect((await insert(value)).numAffectedRows).toBe(BigInt(value));
});

describe("a prepared statement", () => {
  const double = (database: Database, name: string, value: number) =>
    database.readPrepared(name, "select $1::int * 2 as doubled", [value]);

  function countDescribed() {
    const described = vi.spyOn(pg.Connection.prototype, "describe");
    onTestFinished(() => described.mockRestore());
    return described;
  }

  test("is described once on each connection", async () => {
    const { database } = await openBoth();
    const described = countDescribed();
    for (const value of [1, 2, 3]) expect(await double(database, "one", value)).toEqual([{ doubled: value * 2 }]);
    expect(described).toHaveBeenCalledTimes(1);
    for (const value of [1, 2]) expect(await double(database, "two", value)).toEqual([{ doubled: value * 2 }]);
    expect(described).toHaveBeenCalledTimes(2);
    // The second one needs another connection.
    const both = await Promise.all([1, 2].map((value) => double(database, "one", value)));
    expect(both).toEqual([[{ doubled: 2 }], [{ doubled: 4 }]]);
    expect(described).toHaveBeenCalledTimes(3);
  });

  test("is described each time behind a pooler, which may have prepared it elsewhere for another table", async () => {
    const { database } = await openBoth(true);
    const described = countDescribed();
    for (const value of [1, 2, 3]) expect(await double(database, "one", value)).toEqual([{ doubled: value * 2 }]);
    expect(described).toHaveBeenCalledTimes(3);
  });
});
