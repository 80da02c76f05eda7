import { sql } from "kysely";
import { expect, test } from "vitest";
import { tableExists } from "../../src/database/table-exists.ts";
import { openTestDatabase } from "../support/test-database.ts";

test("a table is there in a transaction that looked before another connection has created it", async () => {
  const database = await openTestDatabase();
  await database.writes.transaction().execute(async (db) => {
    const look = async () => {
      const { rows } = await sql<{ isThere: boolean }>`select ${tableExists(sql`'late_table'`)} as "isThere"`.execute(
        db,
      );
      return rows[0]?.isThere;
    };
    expect(await look()).toBe(false);
    await sql`create table late_table ()`.execute(database.reads);
    expect(await look()).toBe(true);
  });
});
