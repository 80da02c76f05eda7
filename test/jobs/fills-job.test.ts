// Tests how servers set columns of the rows that were there before a migration.
import { sql } from "kysely";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { beginFill } from "../../src/database/migration/fills.ts";
import type { Migrations } from "../../src/database/migration/migration.ts";
import { startFills } from "../../src/jobs/fills-job.ts";
import { openTestDatabase } from "../support/test-database.ts";

const migrations: Migrations = {
  "9000-copies": { fill: { table: "things", key: ["part", "id"], set: "copy = name", where: "copy is null" } },
};

async function openWithThings(count: number) {
  const database = await openTestDatabase();
  await sql`create table things (part uuid, id int, name text not null, copy text, primary key (part, id))`.execute(
    database.writes,
  );
  await sql`
    insert into things select gen_random_uuid(), n, 'thing ' || n from generate_series(1, ${count}::int) n`.execute(
    database.writes,
  );
  await beginFill(database.writes, "9000-copies");
  const read = async () => {
    const { rows } = await sql<{ filled: number; counted: number; ended: boolean }>`
      select (select count(*)::int from things where copy = name) as filled, rows::int as counted,
        end_time is not null as ended from fills where name = '9000-copies'`.execute(database.reads);
    return rows[0];
  };
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const start = () => {
    const fills = startFills({ database, migrations, logger });
    onTestFinished(() => fills.close());
    return fills;
  };
  return { database, read, lines, start };
}

test("several servers fill all rows together, each once, and one that ends leaves the rest to the others", async () => {
  const { database, read, lines, start } = await openWithThings(12_345);
  // However late it is noticed that some are filled, the last one is not.
  await database.writes.transaction().execute(async (db) => {
    await sql`select from things order by part desc, id desc limit 1 for update`.execute(db);
    const first = start();
    await expect.poll(async () => (await read())?.filled).toBeGreaterThan(0);
    await first.close();
  });
  const left = await read();
  expect(left).toMatchObject({ ended: false });
  expect(left?.filled).toBeLessThan(12_345);
  for (let server = 0; server < 2; server++) start();
  await expect.poll(read).toEqual({ filled: 12_345, counted: 12_345, ended: true });
  await expect.poll(() => lines.filter((line) => line.includes('"filled columns of existing rows"')).length).toBe(2);
});

test("a fill that fails is tried again, and one that only a newer version knows is left to its servers", async () => {
  const { database, read, lines, start } = await openWithThings(10);
  await beginFill(database.writes, "9001-newer");
  await sql`alter table things rename to things_later`.execute(database.writes);
  start();
  await expect.poll(() => lines.join("")).toContain("failed to fill columns of existing rows; trying again");
  await sql`alter table things_later rename to things`.execute(database.writes);
  await expect.poll(async () => (await read())?.filled).toBe(10);
  await expect.poll(() => lines.join("")).toContain('"filled columns of existing rows"');
  const { rows } = await sql`select name from fills where end_time is null`.execute(database.reads);
  expect(rows).toEqual([{ name: "9001-newer" }]);
});
