// Tests how migrations are applied: what they wait for, what is left of those that fail, and which versions may run beside them.
import { type Kysely, sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openForMigration } from "../../src/database/database.ts";
import { DatabaseTooNewError } from "../../src/database/migration/applied.ts";
import { MigrationBlockedError } from "../../src/database/migration/apply-migration.ts";
import { VersionSkippedError } from "../../src/database/migration/skipped-version.ts";
import { fillBatch } from "../../src/database/migration/fills.ts";
import type { Fill, Migration, Migrations } from "../../src/database/migration/migration.ts";
import { migrations, versionsByMigration } from "../../src/database/migrations/all.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { Schema } from "../../src/database/schema.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";
import { createMigrationLog } from "./migration-log.ts";

/** Returns a migration that runs statements in its transaction. */
const statements = (...texts: string[]): Migration => ({
  async up(db) {
    for (const text of texts) await sql.raw(text).execute(db);
  },
});

/** The migrations of this version, and further ones. */
const withNext = (next: Migrations): Migrations => ({ ...migrations, ...next });

const limits = { lockMs: 200, tries: 8, pauseMs: 10 };

interface Things {
  readonly db: Kysely<Schema>;
  readonly url: string;
  /** Opens another connection to the database. */
  connect(application: string): Promise<pg.Client>;
}

/** Opens a migrated database that has a table `things` with some rows, too. */
async function openThings(count = 3): Promise<Things> {
  const { url, drop } = await createTestDatabase();
  const db = openForMigration({ connectionString: url });
  onTestFinished(async () => {
    await db.destroy();
    await drop();
  });
  await sql`create table things (id int primary key, name text not null, copy text)`.execute(db);
  await sql`insert into things select n, 'thing ' || n from generate_series(1, ${count}::int) n`.execute(db);
  return {
    db,
    url,
    async connect(application) {
      const client = new pg.Client({ connectionString: url, application_name: application });
      await client.connect();
      client.on("error", () => {});
      onTestFinished(() => client.end());
      return client;
    },
  };
}

async function columnsOf(db: Kysely<Schema>, table = "things"): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    order by attnum`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns the names of the indexes of `things` besides its key, with whether each is valid. */
async function indexesOf(db: Kysely<Schema>): Promise<Record<string, boolean>> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'things'::regclass and not indisprimary`.execute(db);
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
}

async function advisoryLocks(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

const added = withNext({ "9000-next": statements("alter table things add column size int") });

describe("a migration in a transaction", () => {
  test("gives up its lock to calls while a reader holds the table, names the reader, and is applied when it ends", async () => {
    const { db, connect } = await openThings();
    const reader = await connect("report");
    await reader.query("begin; select from things");
    const { rows } = await reader.query<{ pid: number }>("select pg_backend_pid() as pid");
    const { lines, logger } = createMigrationLog();
    const migrating = migrate(db, { all: added, limits: { ...limits, tries: 1_000 }, logger });
    const held = () => lines.find(({ text }) => text.includes("it is held by"));
    await expect.poll(held).toBeDefined();
    // A call that came while the migration waited for its lock is carried out.
    const caller = await connect("caller");
    await caller.query("select from things");
    expect(held()?.text).toMatch(
      /^a migration gets no lock, and is tried again; it is held by pid \d+ \(report, user /,
    );
    expect(held()?.fields).toMatchObject({
      migration: "9000-next",
      attempt: expect.any(Number),
      of: 1_000,
      blockers: [
        { pid: rows[0]?.pid, application: "report", state: "idle in transaction", seconds: expect.any(Number) },
      ],
    });
    await reader.query("commit");
    expect(await migrating).toEqual({ applied: ["9000-next"], newer: [] });
    expect(await columnsOf(db)).toContain("size");
  });

  test("fails after some tries with an error that names who held the lock, and leaves nothing", async () => {
    const { db, connect } = await openThings();
    const reader = await connect("pg_dump");
    await reader.query("begin; select from things");
    const failing = migrate(db, { all: added, limits });
    await expect(failing).rejects.toThrow(MigrationBlockedError);
    await expect(failing).rejects.toThrow(
      /^the migration 9000-next got no lock in 8 tries of 200 ms; what it changes was held by pid \d+ \(pg_dump, user \S+, idle in transaction, for \d+ s\)\. Wait for the end of that transaction, or end it with pg_terminate_backend, and start again$/,
    );
    expect(await columnsOf(db)).not.toContain("size");
    expect(await advisoryLocks(db)).toBe(0);
  });

  test("is applied although one after it fails, and what that one did is rolled back", async () => {
    const { db } = await openThings();
    const all = withNext({
      "9000-next": statements("alter table things add column size int"),
      "9001-wrong": statements("alter table things add column weight int", "select 1 / 0"),
    });
    await expect(migrate(db, { all })).rejects.toThrow(
      "the database could not be migrated: 9001-wrong failed, and was rolled back",
    );
    expect(await columnsOf(db)).toEqual(["id", "name", "copy", "size"]);
    expect(await migrate(db, { all: added })).toEqual({ applied: [], newer: [] });
  });

  test("that is stopped is cancelled and rolled back, and the next run applies it", async () => {
    const { db, connect } = await openThings();
    const all = withNext({ "9000-slow": statements("alter table things add column size int", "select pg_sleep(600)") });
    const stop = new AbortController();
    const { lines, logger } = createMigrationLog();
    const stopped = migrate(db, { all, logger, signal: stop.signal });
    stopped.catch(() => {});
    const other = await connect("other");
    const isSleeping = async (): Promise<number | null> => {
      const query = "select from pg_stat_activity where query like '%pg_sleep(600)' and wait_event = 'PgSleep'";
      return (await other.query(query)).rowCount;
    };
    await expect.poll(isSleeping).toBe(1);
    stop.abort(new Error("stopped by SIGTERM"));
    await expect(stopped).rejects.toThrow("stopped by SIGTERM");
    expect(await isSleeping()).toBe(0);
    expect(lines.map(({ text }) => text)).toEqual([
      "stopped during a migration, which was rolled back; the next start begins with it",
    ]);
    expect(await columnsOf(db)).not.toContain("size");
    const quick = withNext({ "9000-slow": statements("alter table things add column size int") });
    expect(await migrate(db, { all: quick })).toEqual({ applied: ["9000-slow"], newer: [] });
  });

  test("that another server is at is waited for, and not applied again", async () => {
    const { db } = await openThings();
    const all = withNext({ "9000-next": statements("alter table things add column size int", "select pg_sleep(0.5)") });
    const both = await Promise.all([migrate(db, { all }), migrate(db, { all })]);
    expect(both.flatMap(({ applied }) => applied)).toEqual(["9000-next"]);
  });

  test("waits for the lock of an earlier version, names who has it, and can be stopped meanwhile", async () => {
    const { db, connect } = await openThings();
    const earlier = await connect("tenantry migrate (earlier)");
    await earlier.query("select pg_advisory_lock(3853314791062309107)");
    const { lines, logger } = createMigrationLog();
    const stop = new AbortController();
    const stopped = migrate(db, { all: added, logger, signal: stop.signal });
    stopped.catch(() => {});
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]?.text).toMatch(
      /^waiting for another server that migrates the database: pid \d+ \(tenantry migrate \(earlier\), user \S+, idle, for \d+ s\); if one of these is idle for long, a pooler has kept it: end it with pg_terminate_backend$/,
    );
    stop.abort();
    await expect(stopped).rejects.toBe(stop.signal.reason);
    await earlier.query("select pg_advisory_unlock(3853314791062309107)");
    expect(await migrate(db, { all: added })).toEqual({ applied: ["9000-next"], newer: [] });
  });
});

describe("indexes", () => {
  const index = { name: "things_by_name", definition: "on things (name)" };
  const all = withNext({ "9000-index": { createIndexes: [index] } });
  const waitingBuilds = `
    select from pg_stat_activity
    where query like '%index concurrently%things_by_name%' and wait_event_type = 'Lock'
      and datname = current_database() and pid <> pg_backend_pid()`;

  test("are built while the table is written, after what is left of a failed try is dropped", async () => {
    const { db, connect } = await openThings();
    await sql`insert into things values (4, 'thing 1')`.execute(db);
    await sql`create unique index concurrently things_by_name on things (name)`.execute(db).catch(() => {});
    expect(await indexesOf(db)).toEqual({ things_by_name: false });

    const writer = await connect("writer");
    await writer.query("begin; insert into things values (5, 'thing 5')");
    const migrating = migrate(db, { all });
    const other = await connect("other");
    const waits = async (): Promise<number | null> => (await other.query(waitingBuilds)).rowCount;
    await expect.poll(waits).toBe(1);
    // Nobody waits behind it.
    await other.query("insert into things values (6, 'thing 6')");
    await writer.query("commit");
    expect(await migrating).toEqual({ applied: ["9000-index"], newer: [] });
    expect(await indexesOf(db)).toEqual({ things_by_name: true });
  });

  test("whose build is stopped are built by the next run", async () => {
    const { db, connect } = await openThings();
    const writer = await connect("writer");
    await writer.query("begin; insert into things values (5, 'thing 5')");
    const stop = new AbortController();
    const stopped = migrate(db, { all, signal: stop.signal });
    stopped.catch(() => {});
    const other = await connect("other");
    const waits = async (): Promise<number | null> => (await other.query(waitingBuilds)).rowCount;
    await expect.poll(waits).toBe(1);
    stop.abort(new Error("stopped by SIGTERM"));
    await expect(stopped).rejects.toThrow("stopped by SIGTERM");
    expect(await waits()).toBe(0);
    await writer.query("commit");
    expect(await migrate(db, { all })).toEqual({ applied: ["9000-index"], newer: [] });
    expect(await indexesOf(db)).toEqual({ things_by_name: true });
  });

  test("that cannot be built leave nothing, and are built once their cause is removed", async () => {
    const { db } = await openThings();
    await sql`insert into things values (4, 'thing 1')`.execute(db);
    const unique = withNext({ "9000-index": { createIndexes: [{ ...index, unique: true }] } });
    await expect(migrate(db, { all: unique })).rejects.toThrow("the database could not be migrated: 9000-index failed");
    expect(await indexesOf(db)).toEqual({});
    await sql`delete from things where id = 4`.execute(db);
    expect(await migrate(db, { all: unique })).toEqual({ applied: ["9000-index"], newer: [] });
    expect(await indexesOf(db)).toEqual({ things_by_name: true });
  });

  test("are dropped beside calls, also where they are gone already", async () => {
    const { db } = await openThings();
    await sql`create index things_by_name on things (name)`.execute(db);
    const drops = withNext({ "9000-drop": { dropIndexes: ["things_by_name", "things_by_size"] } });
    expect(await migrate(db, { all: drops })).toEqual({ applied: ["9000-drop"], newer: [] });
    expect(await indexesOf(db)).toEqual({});
  });
});

describe("a fill", () => {
  const fill: Fill = { table: "things", key: ["id"], set: "copy = name", where: "copy is null" };
  const all = withNext({ "9000-copies": { fill } });
  const lacking = async (db: Kysely<Schema>): Promise<number> => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from things where copy is null`.execute(
      db,
    );
    return rows[0]?.count ?? 0;
  };

  test("writes some rows in each transaction, goes on after the last key, and ends", async () => {
    const { db } = await openThings(25);
    await sql`update things set copy = 'own' where id in (3, 13)`.execute(db);
    await migrate(db, { all });
    expect(await lacking(db)).toBe(23);
    expect(await fillBatch(db, "9000-copies", fill, 10)).toBe("filled");
    expect(await lacking(db)).toBe(14);
    // Another process goes on with it.
    const { rows } = await sql`select last_key, rows::int from fills where name = '9000-copies'`.execute(db);
    expect(rows).toEqual([{ last_key: ["10"], rows: 9 }]);
    const outcomes = [];
    for (let batch = 0; batch < 3; batch++) outcomes.push(await fillBatch(db, "9000-copies", fill, 10));
    expect(outcomes).toEqual(["filled", "ended", "ended"]);
    expect(await lacking(db)).toBe(0);
    const { rows: filled } =
      await sql`select copy = name as same, count(*)::int as count from things group by 1 order by 1`.execute(db);
    expect(filled).toEqual([
      { same: false, count: 2 },
      { same: true, count: 23 },
    ]);
  });

  test("is left to the server that is at it", async () => {
    const { db, connect } = await openThings();
    await migrate(db, { all });
    const other = await connect("other");
    await other.query("begin; select from fills where name = '9000-copies' for update");
    expect(await fillBatch(db, "9000-copies", fill)).toBe("busy");
    await other.query("rollback");
    expect(await fillBatch(db, "9000-copies", fill)).toBe("ended");
  });

  test("ends before a migration that needs it, also where no server has begun with it", async () => {
    const { db } = await openThings(2_500);
    const contracted = withNext({
      "9000-copies": { fill },
      "9001-required": { ...statements("alter table things alter column copy set not null"), needs: ["9000-copies"] },
    });
    expect(await migrate(db, { all: contracted })).toEqual({ applied: ["9000-copies", "9001-required"], newer: [] });
    expect(await lacking(db)).toBe(0);
  });
});

describe("a version that takes away what the version before the last uses", () => {
  const expanded = withNext({ "9000-expand": statements("alter table things add column size int") });
  const contracted = {
    ...expanded,
    "9001-further": statements("alter table things add column color text"),
    "9002-contract": { ...statements("alter table things drop column copy"), requires: "9000-expand" },
  };

  test("migrates nothing before the version between has run, says which migration that knows, and then migrates", async () => {
    const { db, url } = await openThings();
    const server = await startTestServer({ databaseUrl: url });
    await server.close();
    const before = await columnsOf(db);
    const skipping = migrate(db, { all: contracted });
    await expect(skipping).rejects.toThrow(VersionSkippedError);
    await expect(skipping).rejects.toThrow(
      `it ends with the migration ${Object.keys(migrations).at(-1)}, and 9002-contract takes away what servers use that do not know 9000-expand. Replace all servers by a version that knows it first`,
    );
    expect(await columnsOf(db)).toEqual(before);
    await migrate(db, { all: expanded });
    expect((await migrate(db, { all: contracted })).applied).toEqual(["9001-further", "9002-contract"]);
  });

  test("migrates a database from which no server has served at once", async () => {
    const { db } = await openThings();
    const { applied } = await migrate(db, { all: contracted });
    expect(applied).toEqual(["9000-expand", "9001-further", "9002-contract"]);
  });

  test("is named for each migration that is required", () => {
    const required = Object.values(migrations).flatMap(({ requires }) => requires ?? []);
    expect(Object.keys(versionsByMigration).toSorted()).toEqual([...new Set(required)].toSorted());
  });
});

describe("a version that does not know a migration", () => {
  test("starts although its schema differs from its definitions, and says so", async () => {
    const { db, url } = await openThings();
    const foreignKey = "foreign key (org_id, id, customer_id) references groups (org_id, id, customer_id)";
    const change = `alter table groups add constraint groups_further_fkey ${foreignKey}`;
    await sql.raw(change).execute(db);
    await expect(startTestServer({ databaseUrl: url })).rejects.toThrow(
      "is not among the references of its definition",
    );
    await sql`alter table groups drop constraint groups_further_fkey`.execute(db);
    await migrate(db, { all: withNext({ "9000-expand": statements(change) }) });
    const server = await startTestServer({ databaseUrl: url });
    onTestFinished(() => server.close());
    expect(server.logLines.join("")).toMatch(
      /"migrations":\["9000-expand"\],"differences":\["the resource Group: .*"\],"msg":"a newer version has changed the schema"/,
    );
  });

  test("runs beside it, and is told that it is there, unless the migration requires another", async () => {
    const { db } = await openThings();
    const expanded = withNext({ "9000-expand": statements("alter table things add column size int") });
    await migrate(db, { all: expanded });
    expect(await migrate(db)).toEqual({ applied: [], newer: ["9000-expand"] });

    const contracted = {
      ...expanded,
      "9001-contract": { ...statements("alter table things drop column copy"), requires: "9000-expand" },
    };
    await migrate(db, { all: contracted });
    // The version before the newest knows what that requires.
    expect(await migrate(db, { all: expanded })).toEqual({ applied: [], newer: ["9001-contract"] });
    await expect(migrate(db)).rejects.toThrow(DatabaseTooNewError);
    await expect(migrate(db)).rejects.toThrow(
      `it has the migrations 9001-contract, and this version ends with ${Object.keys(migrations).at(-1)}; start`,
    );
  });

  test("and reads the table of Kysely only, finds there what it must not run beside", async () => {
    const { db } = await openThings();
    const names = async (): Promise<string[]> => {
      const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
      return rows.map(({ name }) => name);
    };
    const before = await names();
    const isThere = (name: string): boolean => name < "0040" || migrations[name]?.requires !== undefined;
    expect(before).toEqual(Object.keys(migrations).filter(isThere));
    const all = withNext({
      "9000-expand": statements("select"),
      "9001-contract": { ...statements("select"), requires: "9000-expand" },
    });
    await migrate(db, { all });
    expect(await names()).toEqual([...before, "9001-contract"]);
  });
});
