// Tests a server whose role may read and write rows, and not change the schema: the role of the owner migrates.
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { openForMigration } from "../../src/database/database.ts";
import { migrations } from "../../src/database/migrations/all.ts";
import { type Migrated, migrate } from "../../src/database/migrate.ts";
import { databaseUrl } from "../support/database-url.ts";
import { createApi } from "../support/api.ts";
import { runTenantry } from "../support/command.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

/** A database whose tables belong to one role, and whose rows another may read and write. */
interface RolesDatabase {
  readonly url: string;
  readonly runtime: string;
  /** Runs statements as the administrator. */
  administer(...statements: string[]): Promise<void>;
  /** Lets new sessions have the rights of a role. */
  become(role: "owner" | "runtime"): Promise<void>;
  migrateAs(role: "owner" | "runtime", all?: typeof migrations): Promise<Migrated>;
}

const suffix = randomBytes(4).toString("hex");
const names = { owner: `test_owner_${suffix}`, runtime: `test_runtime_${suffix}` };

/** A database that the owner has migrated, which the others copy. */
let migrated: TestDatabase;
beforeAll(async () => {
  migrated = await createTestDatabase({ empty: true });
  // As in docs/operating.md.
  await run(migrated.url, [
    `create role ${names.owner}`,
    `create role ${names.runtime}`,
    `alter default privileges for role ${names.owner} in schema public
      grant select, insert, update, delete on tables to ${names.runtime}`,
  ]);
  const { migrateAs } = await ownDatabase(migrated.url);
  await migrateAs("owner");
});
afterAll(async () => {
  await migrated.drop();
  const server = databaseUrl(inject("serverUrl"), "postgres");
  await run(server, [`drop role ${names.runtime}`, `drop role ${names.owner}`]);
});

async function run(at: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: at });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Makes a database that of the owner. */
async function ownDatabase(url: string): Promise<RolesDatabase> {
  const database = new URL(url).pathname.slice(1);
  const administer = (...statements: string[]): Promise<void> => run(url, ["set role none", ...statements]);
  const become = (role: "owner" | "runtime"): Promise<void> =>
    administer(`alter database ${database} set role to ${names[role]}`);
  await administer(`alter database ${database} owner to ${names.owner}`);
  return {
    url,
    runtime: names.runtime,
    administer,
    become,
    async migrateAs(role, all = migrations) {
      await become(role);
      const db = openForMigration({ connectionString: url });
      try {
        return await migrate(db, { all });
      } finally {
        await db.destroy();
      }
    },
  };
}

/** Creates a database for a single test; migrated, unless `empty`. */
async function createRolesDatabase({ empty = false } = {}): Promise<RolesDatabase> {
  const { url, drop } = await createTestDatabase(empty ? { empty } : { copyOf: migrated.url });
  onTestFinished(drop);
  return ownDatabase(url);
}

async function start(url: string): Promise<TestServer> {
  const server = await startTestServer({ databaseUrl: url, purgeIntervalMs: 100, changeLogDays: 31 });
  onTestFinished(() => server.close());
  return server;
}

const problemsOf = ({ logLines }: TestServer): unknown[] =>
  logLines.map((line) => JSON.parse(line) as { level: number; msg: string }).filter(({ level }) => level >= 50);

test("a server without rights on the schema serves, goes on when months pass, and says when a migration is needed", async () => {
  const { url, administer, become } = await createRolesDatabase();
  await become("runtime");
  const server = await start(url);
  const api = createApi("gRPC", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  const member = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
  await api.members.deleteMember({ path: member.path });
  expect(problemsOf(server)).toEqual([]);
  expect(server.logLines.join("")).not.toContain("run tenantry migrate");

  // As it is when nobody has migrated for almost two years.
  const partitions = await readPartitions(url);
  const [current = "", next = "", ...later] = partitions;
  expect(later).toHaveLength(23);
  await administer(
    ...later.map((name) => `drop table ${name}`),
    `create table changes_2020_01 partition of changes for values from ('2020-01-01 00:00:00+00') to ('2020-02-01 00:00:00+00')`,
  );
  const afterMonths = await start(url);
  await createApi("REST", afterMonths.url, server.operatorKey).orgs.createOrg({ org: { name: "initech" } });
  await expect.poll(() => afterMonths.logLines.join("")).toContain('"monthsLeft":1,"expired":1');
  expect(problemsOf(afterMonths)).toEqual([]);
  expect(await readPartitions(url)).toEqual(["changes_2020_01", current, next]);

  await become("owner");
  const env = { DATABASE_URL: url, TENANTRY_CHANGE_LOG_DAYS: "31" };
  const { stdout } = await runTenantry(["migrate"], { env });
  expect(stdout).toBe("Nothing to migrate.\nDropped old entries of the change log: changes_2020_01\n");
  expect(await readPartitions(url)).toEqual(partitions);
});

test("a server without rights on the schema that has to migrate says what to do", async () => {
  const { runtime, ...empty } = await createRolesDatabase({ empty: true });
  await expect(empty.migrateAs("runtime")).rejects.toThrow(
    `the database could not be migrated: 0001-resources failed, and was rolled back: the role ${runtime} may not change the schema. Set TENANTRY_MIGRATION_DATABASE_URL to the role that owns the tables, or run "tenantry migrate" with it, then start again`,
  );
  const { url, migrateAs } = await createRolesDatabase();
  const next = { up: async (): Promise<void> => {} };
  await migrateAs("owner", { ...migrations, "9000-next": next });
  expect(await migrateAs("runtime")).toEqual({ applied: [], newer: ["9000-next"] });
  await expect(start(url)).resolves.toBeDefined();
});

test("a server whose role cannot read what a migration has created says which rights it needs", async () => {
  const { runtime, administer, migrateAs } = await createRolesDatabase();
  await administer(`revoke select on migrations from ${runtime}`);
  await expect(migrateAs("runtime")).rejects.toThrow(
    `the role ${runtime} may not read all tables: grant it select, insert, update and delete on all tables, and by default on those that the role which migrates creates`,
  );
});

test("a server whose role may not ask for the timeline writes entries without one", async () => {
  const { url, administer, become } = await createRolesDatabase();
  await administer("revoke execute on function pg_walfile_name(pg_lsn) from public");
  await become("runtime");
  const server = await start(url);
  const api = createApi("gRPC", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
  expect(problemsOf(server)).toEqual([]);
  const db = openForMigration({ connectionString: url });
  const { rows } =
    await sql`select timeline, hash is null as unproved from changes where resource_type = 'Member' and method like 'iam.%'`.execute(
      db,
    );
  await db.destroy();
  expect(rows).toEqual([{ timeline: null, unproved: false }]);
});

async function readPartitions(url: string): Promise<string[]> {
  const db = openForMigration({ connectionString: url });
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'changes'::regclass order by 1`.execute(
    db,
  );
  await db.destroy();
  return rows.map(({ name }) => name);
}
