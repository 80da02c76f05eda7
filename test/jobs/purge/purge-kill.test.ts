// The server is killed while it removes a large org; what is left is finished by whoever runs next.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { changesOf } from "../../changes/logged-writes.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { serveTenantry } from "../../support/command.ts";
import { type PurgePlace, fillOrg, makePurgeable, makeOrgPurgeable, openPurgePlace } from "./purge-place.ts";

const members = 8_000;

/** Starts a server that runs the job all the time, and kills it as soon as something holds. */
async function killServerWhen({ url }: PurgePlace, holds: () => Promise<boolean>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-purge-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const env = { DATABASE_URL: url, TENANTRY_DATA: directory, TENANTRY_PURGE_INTERVAL_MS: "100" };
  const served = await serveTenantry({ cwd: directory, env });
  onTestFinished(() => served.signal("SIGKILL").then(() => {}));
  await expect.poll(holds, { timeout: 20_000, interval: 1 }).toBe(true);
  await served.signal("SIGKILL");
}

const countMembers = async ({ query }: PurgePlace): Promise<number> =>
  Number((await query(sql`select count(*) as n from members where name like 'm%'`))[0]?.["n"]);

/** The killed server's transaction ends when the database notices. */
async function finish({ createJob }: PurgePlace): Promise<void> {
  const job = createJob();
  await expect.poll(async () => (await job.runOnce()).isDone, { timeout: 20_000 }).toBe(true);
}

test("an org whose removal was killed again and again stays deleted, and goes with one line", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "large");
  await fillOrg(place, org, { members, keysPerMember: 1 });
  await makeOrgPurgeable(place, org);
  for (const left of [members * 0.8, members * 0.4]) {
    await killServerWhen(place, async () => (await countMembers(place)) <= left);
    expect(await countMembers(place)).toBeGreaterThan(0);
    const [row] = await place.query(sql`select purge_time <= now() as purgeable from orgs where id = ${org.id}`);
    expect(row).toEqual({ purgeable: true });
  }
  await finish(place);
  expect(await place.rowsOf(org)).toEqual({});
  const lines = (await changesOf(place.database, place.systemOrg)).filter((line) => line.method === "tenantry/purge");
  expect(lines.map((line) => line.resource_type)).toEqual(["Org", "Customer"]);
});

test("of members whose removal was killed, each is there or has its line", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  await fillOrg(place, org, { members });
  await makePurgeable(place, "members", sql`name like 'm%'`);
  await killServerWhen(place, async () => (await countMembers(place)) <= members / 2);
  const gone = members - (await countMembers(place));
  expect(gone).toBeLessThan(members);
  expect(await changesOf(place.database, org)).toHaveLength(gone);
  await finish(place);
  const lines = await changesOf(place.database, org);
  expect(new Set(lines.map((line) => line.resource_id)).size).toBe(members);
  expect(lines).toHaveLength(members);
});
