import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import { createStatisticsJob } from "../../src/jobs/statistics-job.ts";
import { addOrg } from "../database/sample-rows.ts";
import { createTestDatabase, openTestDatabase } from "../support/test-database.ts";

const hour = 3_600_000;

function openAt(url: string): Database {
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  return database;
}

function createJob(database: Database): ReturnType<typeof createStatisticsJob> {
  const job = createStatisticsJob({ database, intervalMs: hour, logger: pino({ level: "silent" }) });
  onTestFinished(() => job.close());
  return job;
}

const addMembers = (db: Kysely<Schema>, orgId: string, from: number, count: number) =>
  sql`insert into members (org_id, id, name, display_name, description, labels, type, state, changed_revision)
    select ${orgId}, gen_random_uuid(), 'member-' || number, '', '', '{}', 'USER', 'ACTIVE', gen_random_uuid()
    from generate_series(${from}::int, ${from + count - 1}::int) as number`.execute(db);

const byName = (orgId: string) => sql.raw(`execute by_name('${orgId}', 'member-7')`);

test("a table is analysed when it has doubled, and connections plan their statements again", async () => {
  const database = await openTestDatabase();
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
  const org = await addOrg(owner, "acme");
  await addMembers(owner.writes, org.id, 1, 5_000);
  await sql`create role ${role}`.execute(owner.writes);
  await sql`alter database ${name} set role = ${role}`.execute(owner.writes);
  expect(await createJob(openAt(url)).runOnce()).toBe(0);
  await sql`alter database ${name} reset role`.execute(owner.writes);
  await sql`drop role ${role}`.execute(owner.writes);
  expect(await createJob(openAt(url)).runOnce()).toBe(1);
});
