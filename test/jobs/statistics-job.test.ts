import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import pino from "pino";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { analysisLimits } from "../../src/database/transaction-limits.ts";
import type { Schema } from "../../src/database/schema.ts";
import type { PeriodicJob } from "../../src/jobs/periodic-job.ts";
import { createStatisticsJob } from "../../src/jobs/statistics-job.ts";
import { addOrg } from "../database/sample-rows.ts";
import { createTestDatabase, openTestDatabase } from "../support/test-database.ts";

const hour = 3_600_000;
const minute = 60_000;

interface OpenOptions {
  readonly prepareStatements?: boolean;
  readonly onConnectionError?: (message: string) => void;
}

function openAt(url: string, options: OpenOptions = {}): Database {
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
    ...options,
  });
  onTestFinished(() => database.close());
  return database;
}

interface JobOptions extends Partial<Parameters<typeof createStatisticsJob>[0]> {
  /** Gets the lines of the log. */
  readonly lines?: Record<string, unknown>[];
}

function createJob(database: Database, { lines = [], ...options }: JobOptions = {}): PeriodicJob {
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const job = createStatisticsJob({ database, intervalMs: hour, logger, ...options });
  onTestFinished(() => job.close());
  return job;
}

/** Keeps the tables from autovacuum, which analyses one that has grown as well, when its minute happens to be over. */
async function preventAutovacuum(db: Kysely<Schema>): Promise<void> {
  await sql`alter table members set (autovacuum_enabled = false)`.execute(db);
}

/** Adds members, on a connection that then tells the server what it has counted. */
async function addMembers(db: Kysely<Schema>, orgId: string, from: number, count: number): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`insert into members (customer_id, org_id, id, name, display_name, description, labels, type, state, changed_revision)
      select (select customer_id from orgs where id = ${orgId}), ${orgId}, gen_random_uuid(), 'member-' || number, '', '', '{}', 'USER', 'ACTIVE', gen_random_uuid()
      from generate_series(${from}::int, ${from + count - 1}::int) as number`.execute(connection);
    await sql`select pg_stat_force_next_flush()`.execute(connection);
  });
}

const byName = (orgId: string) => sql.raw(`execute by_name('${orgId}', 'member-7')`);

test("a table is analysed when it has doubled, and connections plan their statements again", async () => {
  const database = await openTestDatabase();
  await preventAutovacuum(database.writes);
  const org = await addOrg(database, "acme");
  const job = createJob(database);
  await database.writes.connection().execute(async (db) => {
    await sql`set plan_cache_mode = force_generic_plan`.execute(db);
    await sql`set enable_seqscan = off`.execute(db);
    await sql
      .raw(
        `prepare by_name(uuid, text) as
          select id from members where org_id = $1 and name = $2 and delete_time is null`,
      )
      .execute(db);
    await byName(org.id).execute(db);
    await addMembers(db, org.id, 1, 5_000);
    expect(await job.runOnce()).toBe(1);
    const { rows } = await sql<{ "QUERY PLAN": string }>`explain ${byName(org.id)}`.execute(db);
    expect(rows[0]?.["QUERY PLAN"]).toContain("members_name_key");

    await addMembers(db, org.id, 5_001, 2_500);
    expect(await job.runOnce()).toBe(0);
    await addMembers(db, org.id, 7_501, 5_000);
    expect(await job.runOnce()).toBe(1);
    expect(await job.runOnce()).toBe(0);
  });
});

test("a role that does not own the tables leaves them to autovacuum", async () => {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const name = sql.id(new URL(url).pathname.slice(1));
  const role = sql.id(`reader_${randomBytes(6).toString("hex")}`);
  const owner = openAt(url);
  await preventAutovacuum(owner.writes);
  const org = await addOrg(owner, "acme");
  await addMembers(owner.writes, org.id, 1, 5_000);
  await sql`create role ${role}`.execute(owner.writes);
  await sql`alter database ${name} set role = ${role}`.execute(owner.writes);
  expect(await createJob(openAt(url)).runOnce()).toBe(0);
  await sql`alter database ${name} reset role`.execute(owner.writes);
  await sql`drop role ${role}`.execute(owner.writes);
  expect(await createJob(openAt(url)).runOnce()).toBe(1);
});

describe.each([true, false])("with prepared statements: %s", (prepareStatements) => {
  /** Opens a database whose table of members has grown, and a transaction that holds a lock. */
  async function lock(statement: string, lockMs = analysisLimits.lockMs) {
    const { url, drop } = await createTestDatabase();
    onTestFinished(drop);
    const errors: string[] = [];
    const database = openAt(url, { prepareStatements, onConnectionError: (message) => errors.push(message) });
    await preventAutovacuum(database.writes);
    const org = await addOrg(database, "acme");
    await addMembers(database.writes, org.id, 1, 5_000);
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query("begin");
    await locker.query(statement);
    let now = 0;
    const lines: Record<string, unknown>[] = [];
    const job = createJob(database, { limits: { ...analysisLimits, lockMs }, clock: () => now, lines });
    const pidOf = async (): Promise<unknown> =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.reads)).rows[0]?.pid;
    const findWaiting = async (): Promise<number[]> => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`.execute(
        database.reads,
      );
      return rows.map(({ pid }) => pid);
    };
    return {
      database,
      locker,
      job,
      lines,
      errors,
      pidOf,
      findWaiting,
      pass: (ms: number): void => void (now += ms),
    };
  }

  // Its own connection is not among those that calls use.
  const lockIndex = "alter index members_name_key set tablespace pg_default";

  test("a locked table is waited for by nobody, and is analysed when it is free", async () => {
    const { locker, job, lines, errors, pidOf, findWaiting, pass } = await lock(
      "lock table members in access exclusive mode",
    );
    const pid = await pidOf();
    for (const _ of [1, 2, 3]) {
      expect(await job.runOnce()).toBe(0);
      expect(await findWaiting()).toEqual([]);
      pass(minute);
    }
    expect(await pidOf()).toBe(pid);
    await locker.query("commit");
    expect(await job.runOnce()).toBe(1);
    expect(await job.runOnce()).toBe(0);
    expect([lines, errors]).toEqual([[], []]);
  });

  test("an analysis that waits for a lock gives up soon and without an error, and delays no read", async () => {
    const { locker, job, lines, errors, pidOf, findWaiting, pass } = await lock(lockIndex, 3_000);
    const pid = await pidOf();
    const running = job.runOnce();
    await expect.poll(findWaiting, { interval: 20 }).toHaveLength(1);
    expect(await running).toBe(0);
    await locker.query("commit");
    // It waits a second before it tries again.
    expect(await job.runOnce()).toBe(0);
    pass(1_000);
    expect(await job.runOnce()).toBe(1);
    expect(await pidOf()).toBe(pid);
    expect([lines, errors]).toEqual([[], []]);
  });

  test("an analysis that is cancelled is logged, and tried again after a minute", async () => {
    const { database, locker, job, lines, errors, findWaiting, pass } = await lock(lockIndex, minute);
    const running = job.runOnce();
    await expect.poll(findWaiting, { interval: 20 }).toHaveLength(1);
    for (const pid of await findWaiting()) await sql`select pg_cancel_backend(${pid})`.execute(database.reads);
    expect(await running).toBe(0);
    await locker.query("commit");
    expect(lines).toMatchObject([
      { item: "members", err: { code: "57014" }, msg: "failed to analyse tables that have grown; trying again" },
    ]);
    pass(minute - 1);
    expect(await job.runOnce()).toBe(0);
    pass(1);
    expect(await job.runOnce()).toBe(1);
    expect(lines).toHaveLength(1);
    expect(errors).toEqual([]);
  });
});
