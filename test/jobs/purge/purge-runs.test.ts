// When runs begin and end, what stops them and what does not.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, inject, test } from "vitest";
import type { PurgeStep } from "../../../src/jobs/purge/run-purge.ts";
import { addOrg, write } from "../../database/sample-rows.ts";
import { type PurgePlace, fillOrg, makePurgeable, makeOrgPurgeable, openPurgePlace } from "./purge-place.ts";

const infoLevel = 30;
const errorLevel = 50;

async function addPurgeableOrg(place: PurgePlace, name: string, members: number) {
  const org = await addOrg(place.database, name);
  await fillOrg(place, org, { members });
  await makeOrgPurgeable(place, org);
  return org;
}

/** Takes a place's database away from everybody, or gives it back. */
async function allowConnections({ url }: PurgePlace, allowed: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const client = new pg.Client({ connectionString: inject("serverUrl") });
  await client.connect();
  await client.query(`alter database ${name} allow_connections ${allowed}`);
  if (!allowed) {
    await client.query("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", [name]);
  }
  await client.end();
}

const countMembers = async ({ query }: PurgePlace, { id }: { id: string }): Promise<unknown> =>
  (await query(sql`select count(*)::int as n from members where org_id = ${id}`))[0]?.["n"];

describe("a run", () => {
  test("logs one line with what it removed, by kind", async () => {
    const place = await openPurgePlace();
    await addPurgeableOrg(place, "one", 3);
    await addPurgeableOrg(place, "two", 3);
    await place.createJob().runOnce();
    expect(place.log).toMatchObject([
      { level: infoLevel, msg: "purged resources", removed: { orgs: 2, customers: 2 } },
    ]);
  });

  test("ends when its time is over, and the next one goes on", async () => {
    const place = await openPurgePlace();
    const org = await addPurgeableOrg(place, "acme", 1_000);
    let now = 0;
    const job = place.createJob({ maxRunMs: 3, clock: () => now, onStep: () => now++ });
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
    expect(await countMembers(place, org)).toBe(400);
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
    expect(await countMembers(place, org)).toBe(0);
    expect(await job.runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
  });

  test("ends in the middle of what it has found, too", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await fillOrg(place, org, { projects: 1_000 });
    await makePurgeable(place, "projects");
    let now = 0;
    const job = place.createJob({ maxRunMs: 2, clock: () => now, onStep: () => now++ });
    expect(await job.runOnce()).toEqual({ removed: { projects: 400 }, isDone: false });
  });

  test("takes a step of each org in turn, so that a large one does not hold up the others", async () => {
    const place = await openPurgePlace();
    const large = await addPurgeableOrg(place, "large", 1_000);
    await addPurgeableOrg(place, "small", 10);
    let now = 0;
    const job = place.createJob({ maxRunMs: 4, clock: () => now, onStep: () => now++ });
    expect((await job.runOnce()).removed).toEqual({ orgs: 1 });
    expect(await countMembers(place, large)).toBe(600);
  });

  test("passes over what another one has locked, without waiting for it", async () => {
    const place = await openPurgePlace();
    const [org, purgeable] = [await addOrg(place.database, "acme"), await addPurgeableOrg(place, "due", 2)];
    await addPurgeableOrg(place, "other", 2);
    await fillOrg(place, org, { projects: 1 });
    await makePurgeable(place, "projects");
    await place.database.writes.transaction().execute(async (db) => {
      await sql`select from orgs where id = ${purgeable.id} for no key update`.execute(db);
      await sql`select pg_advisory_xact_lock(hashtextextended(${`purge ${org.id}`}, 0))`.execute(db);
      expect(await place.createJob().runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: false });
    });
    expect(await place.createJob().runOnce()).toEqual({
      removed: { projects: 1, orgs: 1, customers: 1 },
      isDone: true,
    });
  });

  test("waits for a write of an org that stays", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await fillOrg(place, org, { projects: 1 });
    await makePurgeable(place, "projects");
    let running: Promise<unknown> = Promise.resolve();
    await write(place.database, org, async () => {
      running = place.createJob().runOnce();
      await sleep(100);
    });
    expect(await running).toEqual({ removed: { projects: 1 }, isDone: true });
  });

  test("goes on with the others when one org fails, says which, and tries it again next time", async () => {
    const place = await openPurgePlace();
    const orgs = [];
    for (let index = 0; index < 4; index++) orgs.push(await addPurgeableOrg(place, `org-${index}`, 3));
    const stays = await addOrg(place.database, "stays");
    await fillOrg(place, stays, { projects: 3, members: 3 });
    await makePurgeable(place, "members", sql`org_id = ${stays.id}`);
    await makePurgeable(place, "projects");
    const failing = [orgs[1]?.id ?? "", stays.id];
    await place.query(sql`create function fail() returns trigger language plpgsql as $$ begin
      raise exception 'broken page'; end $$`);
    for (const [table, id] of [
      ["members", failing[0]],
      ["projects", failing[1]],
    ] as const) {
      await place.query(sql`create trigger fail before delete on ${sql.table(table)}
        for each row when (old.org_id = ${sql.lit(id)}) execute function fail()`);
    }
    const job = place.createJob();
    expect(await job.runOnce()).toEqual({ removed: { members: 3, orgs: 3, customers: 3 }, isDone: false });
    const failures = place.log.filter(({ level }) => level === errorLevel);
    expect(failures).toMatchObject([
      { kind: "projects", scope: stays.id, err: { message: "broken page" } },
      { kind: "orgs", scope: failing[0], err: { message: "broken page" } },
    ]);
    await place.query(sql`drop function fail cascade`);
    expect(await job.runOnce()).toEqual({ removed: { projects: 3, orgs: 1, customers: 1 }, isDone: true });
  });
});

describe("a job", () => {
  test("runs by itself, again and again, and not at once", async () => {
    const place = await openPurgePlace();
    const first = await addPurgeableOrg(place, "first", 1);
    const started = performance.now();
    let firstStep = 0;
    place.createJob({ intervalMs: 200, onStep: () => (firstStep ||= performance.now()) });
    await expect.poll(() => place.rowsOf(first)).toEqual({});
    expect(firstStep - started).toBeGreaterThan(95);
    const second = await addPurgeableOrg(place, "second", 1);
    await expect.poll(() => place.rowsOf(second)).toEqual({});
  });

  test("that is closed ends its transaction and does no more", async () => {
    const place = await openPurgePlace();
    const org = await addPurgeableOrg(place, "acme", 2_000);
    const steps: PurgeStep[] = [];
    let closing: Promise<void> | undefined;
    const job = place.createJob({
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
    expect(await countMembers(place, org)).toBe(1_800);
    expect(await job.runOnce()).toEqual({ removed: {}, isDone: false });
  });

  test("waits, when it is closed, for the transaction that is under way", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await fillOrg(place, org, { projects: 1 });
    await makePurgeable(place, "projects");
    const job = place.createJob();
    let closed: Promise<boolean> = Promise.resolve(false);
    let isClosed = false;
    await write(place.database, org, async () => {
      void job.runOnce();
      await sleep(100);
      closed = job.close().then(() => (isClosed = true));
      await sleep(100);
      expect(isClosed).toBe(false);
    });
    await closed;
    expect(await place.query(sql`select from projects`)).toEqual([]);
  });

  test("does not go through all that it has found when the database fails", async () => {
    const place = await openPurgePlace();
    for (let index = 0; index < 10; index++) await addPurgeableOrg(place, `org-${index}`, 1);
    let gone: Promise<void> | undefined;
    const reads = place.database.reads.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.length === 10) await (gone ??= allowConnections(place, false));
        return result;
      },
    });
    const job = place.createJob({ database: { ...place.database, reads } });
    await expect(job.runOnce()).rejects.toThrow();
    expect(place.log.map(({ msg }) => msg)).toEqual(["failed to purge resources"]);
    await allowConnections(place, true);
    expect((await job.runOnce()).removed).toEqual({ orgs: 10, customers: 10 });
  });

  test("says once that the database fails, and goes on when it works again", async () => {
    const place = await openPurgePlace();
    const org = await addPurgeableOrg(place, "acme", 1);
    await allowConnections(place, false);
    place.createJob({ intervalMs: 100 });
    await expect.poll(() => place.log).toHaveLength(1);
    await sleep(500);
    expect(place.log).toMatchObject([
      { level: errorLevel, msg: "failed to search for resources to purge; trying again", err: expect.anything() },
    ]);
    await allowConnections(place, true);
    await expect.poll(() => place.log.length).toBe(2);
    expect(place.log[1]).toMatchObject({ removed: { orgs: 1, customers: 1 } });
    expect(await place.rowsOf(org)).toEqual({});
  });
});
