import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, inject, test } from "vitest";
import { type Database, openDatabase, openForMigration } from "../../src/database/database.ts";
import { DatabaseTooNewError } from "../../src/database/migration/applied.ts";
import { migrate } from "../../src/database/migrate.ts";
import { migrationNames } from "../../src/database/migrations/all.ts";
import { createTestDatabase, openTestDatabase } from "../support/test-database.ts";
import { renderSchema } from "./render-schema.ts";

const migrations = migrationNames;

const appliedMigrations = async (database: Database): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration union select name from migrations order by name`.execute(database.reads);
  return rows.map((row) => row.name);
};

test("each file of a migration is an entry, and entries are in the order of their numbers", () => {
  const files = readdirSync(join(import.meta.dirname, "../../src/database/migrations"))
    .filter((file) => /^\d{4}-/.test(file))
    .map((file) => file.replace(/\.ts$/, ""));
  expect(files.filter((name) => !migrationNames.includes(name))).toEqual([]);
  const numbers = migrationNames.map((name) => /^(\d{4})-[a-z-]+$/.exec(name)?.[1] ?? name);
  // Those of a step that several tables take have the same number.
  expect(numbers).toEqual(numbers.toSorted());
});

describe("a migration", () => {
  test("creates the schema in an empty database, once", async () => {
    const database = await openTestDatabase({ empty: true });
    expect(await migrate(database.writes)).toEqual({ applied: migrations, newer: [] });
    const schema = await renderSchema(database.reads);
    expect(schema).toContain("create table members");
    expect(await migrate(database.writes)).toEqual({ applied: [], newer: [] });
    expect(await renderSchema(database.reads)).toBe(schema);
  });

  test("of an empty database by ten servers at once is applied once, and all continue", async () => {
    const { url, drop } = await createTestDatabase({ empty: true });
    const servers = Array.from({ length: 10 }, () =>
      openDatabase({
        connection: { connectionString: url },
        maxReadConnections: 1,
        maxWriteConnections: 2,
        onConnectionError: () => {},
      }),
    );
    const applied = await Promise.all(servers.map((server) => migrate(server.writes)));
    expect(applied.flatMap((each) => each.applied).toSorted()).toEqual(migrations);
    expect(await Promise.all(servers.map(appliedMigrations))).toEqual(servers.map(() => migrations));
    await Promise.all(servers.map((server) => server.close()));
    await drop();
  });

  test("that fails halfway is rolled back, and succeeds once its cause is removed", async () => {
    const database = await openTestDatabase({ empty: true });
    await sql`create table groups (id int)`.execute(database.writes);
    const before = await renderSchema(database.reads);
    await expect(migrate(database.writes)).rejects.toThrow(
      "the database could not be migrated: 0001-resources failed, and was rolled back",
    );
    expect(await renderSchema(database.reads)).toBe(before);
    await sql`drop table groups`.execute(database.writes);
    expect(await migrate(database.writes)).toEqual({ applied: migrations, newer: [] });
  });

  test("of a database that a newer version has migrated is rejected without changes", async () => {
    const database = await openTestDatabase();
    await sql`
      insert into kysely_migration (name, timestamp) values ('9998-tokens', now()::text), ('9999-roles', now()::text)
    `.execute(database.writes);
    const before = await renderSchema(database.reads);
    await expect(migrate(database.writes)).rejects.toThrow(
      new DatabaseTooNewError(
        `the database is newer than this version of Tenantry can use: it has the migrations 9998-tokens, 9999-roles, and this version ends with ${migrations.at(-1)}; start the version that migrated it, or a newer one`,
      ),
    );
    expect(await renderSchema(database.reads)).toBe(before);
    expect(await appliedMigrations(database)).toEqual([...migrations, "9998-tokens", "9999-roles"]);
  });

  test("outlives a connection that the server ends", async () => {
    const { url, drop } = await createTestDatabase();
    const db = openForMigration({ connectionString: url });
    const readProcess = () => sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
    const [first] = (await readProcess()).rows;
    const administrator = openForMigration({ connectionString: inject("serverUrl") });
    await sql`select pg_terminate_backend(${first?.pid}::int, 10000)`.execute(administrator);
    await expect
      .poll(() =>
        readProcess().then(
          ({ rows }) => rows.length,
          () => 0,
        ),
      )
      .toBe(1);
    await Promise.all([db.destroy(), administrator.destroy()]);
    await drop();
  });
});
