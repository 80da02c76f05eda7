// Tests large orgs and concurrent jobs: each transaction is small, and nothing is removed or logged twice.
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { PurgeStep } from "../../../src/jobs/purge/run-purge.ts";
import { changesOf, revisionOf } from "../../changes/logged-writes.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { rounds } from "../../support/rounds.ts";
import { auditDeletes } from "./audit-deletes.ts";
import { fillOrg, makePurgeable, makeOrgPurgeable, openPurgeFixture } from "./purge-fixture.ts";

/** The maximum number of rows per transaction. */
const most = 200;

/** What the rows of `npm run soak` are divided by in `npm test`. */
const share = rounds(5, 1);

const largest = (steps: readonly PurgeStep[]): number => Math.max(...steps.map(({ rows }) => rows));

test("an org of thousands of rows is removed in transactions of at most 200", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "large");
  const contents = { keysPerMember: 1, requestsPerMember: 1, projects: 1_000 / share, changes: 2_000 / share };
  await fillOrg(fixture, org, { ...contents, members: 5_000 / share, groups: 40 / share, membersPerGroup: 50 });
  const rows = Object.values(await fixture.rowsOf(org)).reduce((sum, count) => sum + count);
  expect(rows).toBeGreaterThan(20_000 / share);
  await makeOrgPurgeable(fixture, org);
  const deletes = await auditDeletes(fixture);
  const steps: PurgeStep[] = [];
  const { removed, isDone } = await fixture.createJob({ onStep: (step) => steps.push(step) }).runOnce();
  expect({ removed, isDone }).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
  expect(await fixture.rowsOf(org)).toEqual({});
  expect(largest(steps)).toBe(most);
  expect((await deletes()).most).toBe(most);
  expect((await deletes()).sum).toBeGreaterThan(20_000 / share);
});

test("a member with thousands of keys, memberships and requests is removed in transactions of at most 200 rows", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, {
    members: 2,
    keysPerMember: 900,
    requestsPerMember: 700,
    groups: 500,
    membersPerGroup: 2,
  });
  await makePurgeable(fixture, "members", sql`name = 'm1'`);
  const deletes = await auditDeletes(fixture);
  const steps: PurgeStep[] = [];
  const { removed } = await fixture.createJob({ onStep: (step) => steps.push(step) }).runOnce();
  expect(removed).toEqual({ members: 1 });
  expect(await deletes()).toEqual({ most, sum: 900 + 700 + 500 + 1 });
  expect(largest(steps)).toBe(most);
  expect(await fixture.rowsOf(org)).toMatchObject({
    members: 1,
    api_keys: 900,
    write_requests: 700,
    group_members: 500,
  });
  // Each step that removes nothing but these rows is a revision, with an entry of the member as it was and is.
  const lines = await changesOf(fixture.database, org);
  expect(lines).toHaveLength(Math.ceil((900 + 700 + 500 + 1) / most));
  for (const { before, after } of lines.slice(0, -1)) expect(after).toEqual(before);
  expect(lines.at(-1)).toMatchObject({ resource_type: "Member", after: null });
});

describe.each(rounds([3], [2, 3]))("%i concurrent jobs", (count) => {
  test("remove each of thousands of resources of one org once, with one change each", async () => {
    const [invitations, projects, groups] = [500 / share, 1_500 / share, 30 / share];
    const memberships = 50 * groups;
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    const contents = { members: 4_000 / share, keysPerMember: 1, projects };
    await fillOrg(fixture, org, { ...contents, groups, membersPerGroup: 50 });
    await fixture.query(sql`update members set state = 'INVITED', invitation_expire_time = now()
      where id in (select id from members where org_id = ${org.id} order by id desc limit ${invitations})`);
    await fixture.query(sql`update group_members set expire_time = now()`);
    // Members in groups are excluded, because their memberships would be removed with them.
    const inGroups = sql`(select member_id from group_members)`;
    await makePurgeable(fixture, "members", sql`org_id = ${org.id} and state = 'ACTIVE' and id not in ${inGroups}`);
    await makePurgeable(fixture, "projects");
    const deletes = await auditDeletes(fixture);

    const removed = await runConcurrently(fixture, count);
    const members = 4_000 / share - invitations - 50;
    expect(removed).toEqual({ invitations, memberships, projects, members });
    expect((await deletes()).most).toBeLessThanOrEqual(most);
    expect((await deletes()).sum).toBe(memberships + projects + members * 2);

    const all = await changesOf(fixture.database, org);
    // Steps that remove only keys of members have an entry in which nothing differs.
    const lines = all.filter(({ before, after }) => !isDeepStrictEqual(before, after));
    expect(lines).toHaveLength(invitations + memberships + projects + members);
    const keys = lines.map((line) => `${line.resource_type} ${line.resource_path} ${line.resource_id}`);
    expect(new Set(keys).size).toBe(lines.length);
    const revisions = new Set(all.map(({ revision }) => revision));
    expect(revisions.size).toBe((await revisionOf(fixture.database, org)) - 1);
  });

  test("remove each of many orgs and customers once, with one change each", async () => {
    const fixture = await openPurgeFixture();
    const orgs = rounds(20, 150);
    for (let index = 0; index < orgs; index++) {
      const org = await addOrg(fixture.database, `org-${index}`);
      if (index % 10 === 0)
        await fillOrg(fixture, org, { members: 150, keysPerMember: 1, groups: 3, membersPerGroup: 10 });
      await makeOrgPurgeable(fixture, org);
    }
    const removed = await runConcurrently(fixture, count);
    expect(removed).toEqual({ orgs, customers: orgs });
    const lines = await fixture.query(sql`
      select * from changes where method = 'tenantry/purge' and resource_type in ('Org', 'Customer')`);
    expect(lines).toHaveLength(2 * orgs);
    expect(new Set(lines.map((line) => line.resource_path)).size).toBe(2 * orgs);
  });
});

/** Runs jobs on separate pools until each finds nothing more to do. Returns what they removed in total. */
async function runConcurrently(
  { createJob, connect }: Awaited<ReturnType<typeof openPurgeFixture>>,
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
