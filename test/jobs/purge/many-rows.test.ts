// Many rows and several servers: each transaction is small, and nothing is removed or logged twice.
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { PurgeStep } from "../../../src/jobs/purge/run-purge.ts";
import { changesOf, revisionOf } from "../../changes/logged-writes.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { rounds } from "../../support/rounds.ts";
import { auditDeletes } from "./audit-deletes.ts";
import { fillOrg, makePurgeable, makeOrgPurgeable, openPurgePlace } from "./purge-place.ts";

/** The most rows of a transaction. */
const most = 200;

const largest = (steps: readonly PurgeStep[]): number => Math.max(...steps.map(({ rows }) => rows));

test("an org of 20,000 rows goes in transactions of no more than 200", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "large");
  const contents = { members: 5_000, keysPerMember: 1, requestsPerMember: 1, projects: 1_000, changes: 2_000 };
  await fillOrg(place, org, { ...contents, groups: 40, membersPerGroup: 50 });
  const rows = Object.values(await place.rowsOf(org)).reduce((sum, count) => sum + count);
  expect(rows).toBeGreaterThan(20_000);
  await makeOrgPurgeable(place, org);
  const deletes = await auditDeletes(place);
  const steps: PurgeStep[] = [];
  const { removed, isDone } = await place.createJob({ onStep: (step) => steps.push(step) }).runOnce();
  expect({ removed, isDone }).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
  expect(await place.rowsOf(org)).toEqual({});
  expect(largest(steps)).toBe(most);
  expect((await deletes()).most).toBe(most);
  expect((await deletes()).sum).toBeGreaterThan(20_000);
});

test("a member with thousands of keys, memberships and requests goes in such transactions, too", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  await fillOrg(place, org, {
    members: 2,
    keysPerMember: 900,
    requestsPerMember: 700,
    groups: 500,
    membersPerGroup: 2,
  });
  await makePurgeable(place, "members", sql`name = 'm1'`);
  const deletes = await auditDeletes(place);
  const steps: PurgeStep[] = [];
  const { removed } = await place.createJob({ onStep: (step) => steps.push(step) }).runOnce();
  expect(removed).toEqual({ members: 1 });
  expect(await deletes()).toEqual({ most, sum: 900 + 700 + 500 + 1 });
  expect(largest(steps)).toBe(most);
  expect(await place.rowsOf(org)).toMatchObject({ members: 1, api_keys: 900, write_requests: 700, group_members: 500 });
  expect(await changesOf(place.database, org)).toHaveLength(1);
});

describe.each([2, 3])("%i jobs at once", (count) => {
  test("remove thousands of rows of one org once each, with one line each", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await fillOrg(place, org, { members: 4_000, keysPerMember: 1, projects: 1_500, groups: 30, membersPerGroup: 50 });
    await place.query(sql`update members set state = 'INVITED', invitation_expire_time = now()
      where id in (select id from members where org_id = ${org.id} order by id desc limit 500)`);
    await place.query(sql`update group_members set expire_time = now()`);
    // Memberships of members who are due would go with them.
    const inGroups = sql`(select member_id from group_members)`;
    await makePurgeable(place, "members", sql`org_id = ${org.id} and state = 'ACTIVE' and id not in ${inGroups}`);
    await makePurgeable(place, "projects");
    const deletes = await auditDeletes(place);

    const removed = await runAtOnce(place, count);
    expect(removed).toEqual({ invitations: 500, memberships: 1_500, projects: 1_500, members: 3_450 });
    expect((await deletes()).most).toBeLessThanOrEqual(most);
    expect((await deletes()).sum).toBe(1_500 + 1_500 + 3_450 * 2);

    const lines = await changesOf(place.database, org);
    expect(lines).toHaveLength(500 + 1_500 + 1_500 + 3_450);
    const keys = lines.map((line) => `${line.resource_type} ${line.resource_path} ${line.resource_id}`);
    expect(new Set(keys).size).toBe(lines.length);
    const revisions = new Set(lines.map(({ revision }) => revision));
    expect(revisions.size).toBe((await revisionOf(place.database, org)) - 1);
  });

  test("remove many orgs and customers once each, with one line each", async () => {
    const place = await openPurgePlace();
    const orgs = rounds(40, 150);
    for (let index = 0; index < orgs; index++) {
      const org = await addOrg(place.database, `org-${index}`);
      if (index % 10 === 0)
        await fillOrg(place, org, { members: 150, keysPerMember: 1, groups: 3, membersPerGroup: 10 });
      await makeOrgPurgeable(place, org);
    }
    const removed = await runAtOnce(place, count);
    expect(removed).toEqual({ orgs, customers: orgs });
    const lines = (await changesOf(place.database, place.systemOrg)).filter((line) => line.method === "tenantry/purge");
    expect(lines).toHaveLength(2 * orgs);
    expect(new Set(lines.map((line) => line.resource_path)).size).toBe(2 * orgs);
  });
});

/** Runs jobs on pools of their own, each until it finds nothing left to do; answers what they removed together. */
async function runAtOnce(
  { createJob, connect }: Awaited<ReturnType<typeof openPurgePlace>>,
  count: number,
): Promise<Record<string, number>> {
  const together: Record<string, number> = {};
  const runAll = async (): Promise<void> => {
    const job = createJob({ database: connect() });
    for (let isDone = false; !isDone;) {
      const result = await job.runOnce();
      isDone = result.isDone;
      for (const [kind, found] of Object.entries(result.removed)) together[kind] = (together[kind] ?? 0) + found;
    }
  };
  await Promise.all(Array.from({ length: count }, runAll));
  return together;
}
