// Tests when runs begin and end, and what interrupts them.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, inject, test } from "vitest";
import type { PurgeStep } from "../../../src/jobs/purge/run-purge.ts";
import { addOrg, write } from "../../database/sample-rows.ts";
import { type PurgeFixture, fillOrg, makePurgeable, makeOrgPurgeable, openPurgeFixture } from "./purge-fixture.ts";

const infoLevel = 30;
const errorLevel = 50;

async function addPurgeableOrg(fixture: PurgeFixture, name: string, members: number) {
  const org = await addOrg(fixture.database, name);
  await fillOrg(fixture, org, { members });
  await makeOrgPurgeable(fixture, org);
  return org;
}

/** Closes the database to all connections, or opens it again. */
async function allowConnections({ url }: PurgeFixture, allowed: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const client = new pg.Client({ connectionString: inject("serverUrl") });
  await client.connect();
  await client.query(`alter database ${name} allow_connections ${allowed}`);
  if (!allowed) {
    await client.query("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", [name]);
  }
  await client.end();
}

const countMembers = async ({ query }: PurgeFixture, { id }: { id: string }): Promise<unknown> =>
  (await query(sql`select count(*)::int as n from members where org_id = ${id}`))[0]?.["n"];

describe("a run", () => {
  test("logs one line with what it removed, by kind", async () => {
    const fixture = await openPurgeFixture();
    await addPurgeableOrg(fixture, "one", 3);
    await addPurgeableOrg(fixture, "two", 3);
    await fixture.createJob().runOnce();
    expect(fixture.log).toMatchObject([
      { level: infoLevel, msg: "purged resources", removed: { orgs: 2, customers: 2 } },
    ]);
  });

  test("ends at its time limit, and the next run continues", async () => {
    const fixture = await openPurgeFixture();
    const org = await addPurgeableOrg(fixture, "acme", 1_000);
    let now = 0;
    const job = fixture.createJob({ maxRunMs: 3, clock: () => now, onStep: () => now++ });
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
    expect(await countMembers(fixture, org)).toBe(400);
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
    expect(await countMembers(fixture, org)).toBe(0);
    expect(await job.runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
  });

  test("ends at its time limit even in the middle of one kind", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await fillOrg(fixture, org, { projects: 1_000 });
    await makePurgeable(fixture, "projects");
    let now = 0;
    const job = fixture.createJob({ maxRunMs: 2, clock: () => now, onStep: () => now++ });
    expect(await job.runOnce()).toEqual({ removed: { projects: 400 }, isDone: false });
  });

  test("alternates between orgs, so that a large one does not delay the others", async () => {
    const fixture = await openPurgeFixture();
    const large = await addPurgeableOrg(fixture, "large", 1_000);
    await addPurgeableOrg(fixture, "small", 10);
    let now = 0;
    const job = fixture.createJob({ maxRunMs: 4, clock: () => now, onStep: () => now++ });
    expect((await job.runOnce()).removed).toEqual({ orgs: 1 });
    expect(await countMembers(fixture, large)).toBe(600);
  });

  test("takes turns, so that many ends of one org delay neither other kinds nor other orgs", async () => {
    const fixture = await openPurgeFixture();
    const [large, small] = [await addOrg(fixture.database, "large"), await addOrg(fixture.database, "small")];
    await fillOrg(fixture, large, { members: 60, groups: 1, membersPerGroup: 60 });
    await fillOrg(fixture, small, { members: 1, keysPerMember: 1, groups: 1, membersPerGroup: 1 });
    await fixture.query(sql`update group_members set expire_time =
      now() - case org_id when ${large.id}::uuid then interval '1 hour' else interval '1 minute' end`);
    await fixture.query(sql`update api_keys set expire_time = now() - interval '1 minute' where org_id = ${small.id}`);
    const steps: PurgeStep[] = [];
    await fixture.createJob({ rowsPerStep: 2, onStep: (step) => steps.push(step) }).runOnce();
    const rowsOf = ({ id }: { id: string }, of: readonly PurgeStep[]) =>
      of.filter(({ scope }) => scope === id).map(({ kind, rows }) => [kind, rows]);
    // One search finds what ten transactions remove.
    const first = steps.slice(0, 12);
    expect(rowsOf(large, first)).toEqual(Array.from({ length: 10 }, () => ["memberships", 2]));
    expect(rowsOf(small, first)).toEqual([
      ["expiredApiKeys", 1],
      ["memberships", 1],
    ]);
    expect(rowsOf(large, steps)).toHaveLength(30);
  });

  test("skips what another run has locked", async () => {
    const fixture = await openPurgeFixture();
    const purgeable = await addPurgeableOrg(fixture, "due", 2);
    await addPurgeableOrg(fixture, "other", 2);
    await fixture.database.writes.transaction().execute(async (db) => {
      await sql`select from orgs where id = ${purgeable.id} for no key update`.execute(db);
      expect(await fixture.createJob().runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: false });
    });
    expect(await fixture.createJob().runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
  });

  test("waits for the lock of an org that is not purged", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await fillOrg(fixture, org, { projects: 1 });
    await makePurgeable(fixture, "projects");
    let running: Promise<unknown> = Promise.resolve();
    await write(fixture.database, org, async () => {
      running = fixture.createJob().runOnce();
      await sleep(100);
    });
    expect(await running).toEqual({ removed: { projects: 1 }, isDone: true });
  });

  test("continues with the other orgs if one fails, logs which, and repeats it in a later run", async () => {
    const fixture = await openPurgeFixture();
    const orgs = [];
    for (let index = 0; index < 4; index++) orgs.push(await addPurgeableOrg(fixture, `org-${index}`, 3));
    const stays = await addOrg(fixture.database, "stays");
    await fillOrg(fixture, stays, { projects: 3, members: 3 });
    await makePurgeable(fixture, "members", sql`org_id = ${stays.id}`);
    await makePurgeable(fixture, "projects");
    const failing = [orgs[1]?.id ?? "", stays.id];
    await fixture.query(sql`create function fail() returns trigger language plpgsql as $$ begin
      raise exception 'broken page'; end $$`);
    for (const [table, id] of [
      ["members", failing[0]],
      ["projects", failing[1]],
    ] as const) {
      await fixture.query(sql`create trigger fail before delete on ${sql.table(table)}
        for each row when (old.org_id = ${sql.lit(id)}) execute function fail()`);
    }
    let now = 0;
    const job = fixture.createJob({ clock: () => now });
    expect(await job.runOnce()).toEqual({ removed: { members: 3, orgs: 3, customers: 3 }, isDone: false });
    const failures = fixture.log.filter(({ level }) => level === errorLevel);
    expect(failures).toMatchObject([
      { kind: "projects", scope: stays.id, err: { message: "broken page" } },
      { kind: "orgs", scope: failing[0], err: { message: "broken page" } },
    ]);
    await fixture.query(sql`drop function fail cascade`);
    // Both are left alone for a second.
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
    now = 1_000;
    expect(await job.runOnce()).toEqual({ removed: { projects: 3, orgs: 1, customers: 1 }, isDone: true });
  });
});

describe("a job", () => {
  test("runs periodically, after an initial delay", async () => {
    const fixture = await openPurgeFixture();
    const first = await addPurgeableOrg(fixture, "first", 1);
    const started = performance.now();
    let firstStep = 0;
    fixture.createJob({ intervalMs: 200, onStep: () => (firstStep ||= performance.now()) });
    await expect.poll(() => fixture.rowsOf(first)).toEqual({});
    expect(firstStep - started).toBeGreaterThan(95);
    const second = await addPurgeableOrg(fixture, "second", 1);
    await expect.poll(() => fixture.rowsOf(second)).toEqual({});
  });

  test("that is closed ends its transaction and starts no other", async () => {
    const fixture = await openPurgeFixture();
    const org = await addPurgeableOrg(fixture, "acme", 2_000);
    const steps: PurgeStep[] = [];
    let closing: Promise<void> | undefined;
    const job = fixture.createJob({
      intervalMs: 100,
      onStep(step) {
        steps.push(step);
        closing ??= job.close();
      },
    });
    await expect.poll(() => steps).not.toEqual([]);
    await closing;
    expect(steps).toHaveLength(1);
    await sleep(300);
    expect(await countMembers(fixture, org)).toBe(1_800);
    await expect(job.runOnce()).rejects.toMatchObject({ name: "AbortError" });
  });

  test("waits in close for the current transaction", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await fillOrg(fixture, org, { projects: 1 });
    await makePurgeable(fixture, "projects");
    const job = fixture.createJob();
    let closed: Promise<boolean> = Promise.resolve(false);
    let isClosed = false;
    await write(fixture.database, org, async () => {
      void job.runOnce();
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => fixture.query(waiting)).toHaveLength(1);
      closed = job.close().then(() => (isClosed = true));
      await sleep(100);
      expect(isClosed).toBe(false);
    });
    await closed;
    expect(await fixture.query(sql`select from projects`)).toEqual([]);
  });

  test("stops its run when the database fails", async () => {
    const fixture = await openPurgeFixture();
    for (let index = 0; index < 10; index++) await addPurgeableOrg(fixture, `org-${index}`, 1);
    let gone: Promise<void> | undefined;
    const reads = fixture.database.reads.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.length === 10) await (gone ??= allowConnections(fixture, false));
        return result;
      },
    });
    let now = 0;
    const job = fixture.createJob({ database: { ...fixture.database, reads }, clock: () => now });
    await expect(job.runOnce()).rejects.toThrow();
    expect(fixture.log.map(({ msg }) => msg)).toEqual(["failed to purge resources"]);
    await allowConnections(fixture, true);
    now = 1_000;
    expect((await job.runOnce()).removed).toEqual({ orgs: 10, customers: 10 });
  });

  test("logs a failure of the database once, and continues when it is available again", async () => {
    const fixture = await openPurgeFixture();
    const org = await addPurgeableOrg(fixture, "acme", 1);
    await allowConnections(fixture, false);
    fixture.createJob({ intervalMs: 100 });
    await expect.poll(() => fixture.log).toHaveLength(1);
    await sleep(500);
    expect(fixture.log).toMatchObject([
      { level: errorLevel, msg: "failed to search for resources to purge; trying again", err: expect.anything() },
    ]);
    await allowConnections(fixture, true);
    await expect.poll(() => fixture.log.length).toBe(2);
    expect(fixture.log[1]).toMatchObject({ removed: { orgs: 1, customers: 1 } });
    expect(await fixture.rowsOf(org)).toEqual({});
  });
});
