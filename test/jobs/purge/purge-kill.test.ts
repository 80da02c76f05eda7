// Kills the server while it removes a large org or many members. The next run completes the removal.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { changesOf } from "../../changes/logged-writes.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { serveTenantry } from "../../support/command.ts";
import { rounds } from "../../support/rounds.ts";
import { type PurgeFixture, fillOrg, makePurgeable, makeOrgPurgeable, openPurgeFixture } from "./purge-fixture.ts";

const members = rounds(4_000, 8_000);

/** The server can remove thousands more before it is killed, so that it is killed in the middle also on a busy machine. */
const soon = members - 400;

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-purge-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Starts a server that runs the job continuously, and kills it as soon as the condition is true.
 *
 * @param directory of its data, as of the servers of the database before it.
 */
async function killServerWhen({ url }: PurgeFixture, directory: string, holds: () => Promise<boolean>): Promise<void> {
  const env = { DATABASE_URL: url, TENANTRY_DATA: directory, TENANTRY_PURGE_INTERVAL_MS: "100" };
  const served = await serveTenantry({ cwd: directory, env });
  onTestFinished(() => served.signal("SIGKILL").then(() => {}));
  await expect.poll(holds, { interval: 1 }).toBe(true);
  await served.signal("SIGKILL");
}

const countMembers = async ({ query }: PurgeFixture): Promise<number> =>
  Number((await query(sql`select count(*) as n from members where name like 'm%'`))[0]?.["n"]);

/** Runs the job until nothing is left. The transaction of the killed server ends when the database notices. */
async function finish({ createJob }: PurgeFixture): Promise<void> {
  const job = createJob();
  await expect.poll(async () => (await job.runOnce()).isDone).toBe(true);
}

test("an org stays deleted while its removal is killed repeatedly, and is removed with one change", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "large");
  await fillOrg(fixture, org, { members, keysPerMember: 1 });
  await makeOrgPurgeable(fixture, org);
  const directory = await makeDirectory();
  for (const left of [soon, soon - 400]) {
    await killServerWhen(fixture, directory, async () => (await countMembers(fixture)) <= left);
    expect(await countMembers(fixture)).toBeGreaterThan(0);
    const [row] = await fixture.query(sql`select purge_time <= now() as purgeable from orgs where id = ${org.id}`);
    expect(row).toEqual({ purgeable: true });
  }
  await finish(fixture);
  expect(await fixture.rowsOf(org)).toEqual({});
  const lines = await fixture.query(sql`
    select * from changes where method = 'tenantry/purge' and resource_type in ('Org', 'Customer') order by time`);
  expect(lines.map((line) => line.resource_type)).toEqual(["Org", "Customer"]);
});

test("after a killed removal, each member exists or has a change", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, { members });
  await makePurgeable(fixture, "members", sql`name like 'm%'`);
  await killServerWhen(fixture, await makeDirectory(), async () => (await countMembers(fixture)) <= soon);
  // Together, since a commit of the killed server may still be under way.
  const [stored] = await fixture.query(sql`
    select (select count(*)::int from members where name like 'm%') as left,
      (select count(*)::int from changes where org_id = ${org.id}) as logged`);
  expect(stored?.["left"]).toBeGreaterThan(0);
  expect(stored?.["logged"]).toBe(members - Number(stored?.["left"]));
  await finish(fixture);
  const lines = await changesOf(fixture.database, org);
  expect(new Set(lines.map((line) => line.resource_id)).size).toBe(members);
  expect(lines).toHaveLength(members);
});
