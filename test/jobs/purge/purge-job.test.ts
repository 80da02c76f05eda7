// What a run removes and what it leaves, and what the change log says of it.
import { type RawBuilder, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { registry } from "../../../src/catalog.ts";
import { orgTablesOf } from "../../../src/jobs/purge/org-tables.ts";
import { changesOf, headOf, revisionOf } from "../../changes/logged-writes.ts";
import { addMember, addOrg, rebuild, write } from "../../database/sample-rows.ts";
import { fillOrg, fillRest, makePurgeable, makeOrgPurgeable, openPurgePlace, retentionDays } from "./purge-place.ts";

const dayMs = 86_400_000;
const ago = sql`now() - interval '1 second'`;
const ahead = sql`now() + interval '1 hour'`;
const author = { actor_id: null, method: "tenantry/purge" };

test("a run that finds nothing to purge changes and logs nothing", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  await fillOrg(place, org, { members: 3, keysPerMember: 2, projects: 2, groups: 2, membersPerGroup: 2, changes: 2 });
  await place.query(sql`update members set delete_time = now(), purge_time = ${ahead} where name = 'm1'`);
  await place.query(sql`update projects set delete_time = now(), purge_time = ${ahead} where name = 'p1'`);
  await place.query(sql`update group_members set expire_time = ${ahead}`);
  await rebuild(place.database);
  const before = await place.rowsOf(org);
  expect(await place.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
  expect(await place.rowsOf(org)).toEqual(before);
  expect(await revisionOf(place.database, org)).toBe(1);
  expect(place.log).toEqual([]);
});

describe("an expired invitation", () => {
  test("is deleted as by a Delete: it can be undeleted, its name is free, and the change log has it", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    const { id } = await addMember(place.database, org, "late");
    await place.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where id = ${id}`);
    expect(await place.createJob().runOnce()).toEqual({ removed: { invitations: 1 }, isDone: true });

    const [row] = await place.query(sql`select * from members where id = ${id}`);
    expect(row).toMatchObject({
      state: "INVITED",
      delete_time: expect.any(Date),
      changed_revision: await headOf(place.database, org),
    });
    const { delete_time: deleteTime, purge_time: purgeTime } = row as { delete_time: Date; purge_time: Date };
    expect(purgeTime.getTime() - deleteTime.getTime()).toBe(retentionDays * dayMs);
    await addMember(place.database, org, "late");

    expect(await changesOf(place.database, org)).toMatchObject([
      {
        ...author,
        revision: await headOf(place.database, org),
        resource_type: "Member",
        resource_id: id,
        resource_path: "/orgs/acme/members/late",
        before: { name: "late", state: "INVITED", delete_time: null },
        after: { name: "late", state: "INVITED", delete_time: deleteTime.toISOString() },
      },
    ]);
  });

  test("is left when it is open, accepted or deleted already", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    for (const name of ["open", "accepted", "deleted"]) await addMember(place.database, org, name);
    await place.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ahead} where name = 'open'`);
    await place.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago},
      delete_time = now(), purge_time = ${ahead} where name = 'deleted'`);
    await rebuild(place.database);
    expect(await place.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
    expect(await changesOf(place.database, org)).toEqual([]);
  });
});

test("a membership that has expired is removed with a line in the change log, and no other is", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  await fillOrg(place, org, { members: 3, groups: 1, membersPerGroup: 3 });
  await place.query(sql`update group_members set expire_time = ${ago}
    where member_id = (select id from members where name = 'm1')`);
  await place.query(sql`update group_members set expire_time = ${ahead}
    where member_id = (select id from members where name = 'm2')`);
  const [expired] = await place.query(sql`select * from group_members where expire_time < now()`);
  expect(await place.createJob().runOnce()).toEqual({ removed: { memberships: 1 }, isDone: true });
  expect(await place.query(sql`select name from group_members join members on id = member_id order by 1`)).toEqual([
    { name: "m2" },
    { name: "m3" },
  ]);
  expect(await changesOf(place.database, org)).toEqual([
    expect.objectContaining({
      ...author,
      revision: await headOf(place.database, org),
      resource_type: "GroupMember",
      resource_id: expired?.["member_id"],
      resource_path: "/orgs/acme/groups/g1/members/m1",
      before: JSON.parse(JSON.stringify(expired)),
      after: null,
    }),
  ]);
});

test("members and projects past their purge time are removed with their dependents, with one change each", async () => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  const contents = { members: 3, keysPerMember: 2, requestsPerMember: 2, projects: 3, groups: 2, membersPerGroup: 3 };
  await fillOrg(place, org, { ...contents, hasRoles: true });
  for (const table of ["members", "projects"] as const) {
    await makePurgeable(place, table, sql`name in ('m1', 'm2', 'p1')`);
  }
  const purgeable = await place.query(sql`select * from members where purge_time is not null order by name`);
  expect(await place.createJob().runOnce()).toEqual({ removed: { projects: 1, members: 2 }, isDone: true });

  const { changes, resource_counts: _counts, ...left } = await place.rowsOf(org);
  expect(changes).toBe(3);
  expect(left).toEqual({
    members: 1,
    api_keys: 2,
    write_requests: 2,
    group_members: 2,
    projects: 2,
    groups: 2,
    subgroups: 1,
    roles: 1,
    // On the org and two projects.
    role_bindings: 3,
  });
  expect(
    await place.query(sql`select resource_type, sum(count)::int as n from resource_counts
    where org_id = ${org.id} group by 1 order by 1`),
  ).toEqual([
    { resource_type: "ApiKey", n: 2 },
    { resource_type: "Group", n: 2 },
    { resource_type: "GroupMember", n: 2 },
    { resource_type: "Member", n: 1 },
    { resource_type: "Project", n: 2 },
    { resource_type: "Role", n: 1 },
    { resource_type: "RoleBinding", n: 3 },
    { resource_type: "Subgroup", n: 1 },
  ]);
  const lines = await changesOf(place.database, org);
  expect(lines.map((line) => line.resource_type).toSorted()).toEqual(["Member", "Member", "Project"]);
  expect(lines.find((line) => line.resource_id === purgeable[0]?.["id"])).toMatchObject({
    ...author,
    resource_path: `/orgs/acme/members/@${String(purgeable[0]?.["id"])}`,
    before: JSON.parse(JSON.stringify(purgeable[0])),
    after: null,
  });
  expect(lines.find((line) => line.resource_type === "Project")?.before).not.toHaveProperty("org_name");
});

test.each([
  ["suspended", sql`state = 'SUSPENDED'`, "acme"],
  ["deleted but not past its purge time", sql`delete_time = now(), purge_time = ${ahead}`, undefined],
])("resources past their purge time in an org that is %s are removed", async (_state, change, name) => {
  const place = await openPurgePlace();
  const org = await addOrg(place.database, "acme");
  await fillOrg(place, org, { members: 4, projects: 1, groups: 1, membersPerGroup: 4 });
  await place.query(sql`update orgs set ${change} where id = ${org.id}`);
  await makePurgeable(place, "members", sql`name = 'm1'`);
  await makePurgeable(place, "projects");
  await place.query(sql`update group_members set expire_time = ${ago}
    where member_id = (select id from members where name = 'm2')`);
  await place.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where name = 'm3'`);
  expect(await place.createJob().runOnce()).toEqual({
    removed: { invitations: 1, memberships: 1, projects: 1, members: 1 },
    isDone: true,
  });
  const lines = await changesOf(place.database, org);
  expect(lines).toHaveLength(4);
  for (const line of lines) expect(line.resource_path).toMatch(`/orgs/${name ?? `@${org.id}`}/`);
});

describe("an org past its purge time", () => {
  const contents = {
    members: 4,
    keysPerMember: 2,
    requestsPerMember: 2,
    projects: 3,
    groups: 3,
    membersPerGroup: 2,
    hasRoles: true,
    changes: 5,
  };

  test("goes with all that is in it, and no other org loses anything", async () => {
    const place = await openPurgePlace();
    const [gone, other] = [await addOrg(place.database, "gone"), await addOrg(place.database, "other")];
    for (const org of [gone, other]) {
      await fillOrg(place, org, contents);
      await fillRest(place, org);
    }
    await place.query(sql`update members set labels = '{"tier": "gold"}' where name = 'm1'`);
    await rebuild(place.database);
    const before = await place.rowsOf(other);
    expect(Object.keys(before)).toEqual(orgTablesOf(registry).toSorted());
    await makePurgeable(place, "orgs", sql`id = ${gone.id}`);
    const [row] = await place.query(sql`select * from orgs where id = ${gone.id}`);
    expect(await place.createJob().runOnce()).toEqual({ removed: { orgs: 1 }, isDone: true });
    expect(await place.rowsOf(gone)).toEqual({});
    expect(await place.rowsOf(other)).toEqual(before);
    expect(await place.query(sql`select name from orgs order by 1`)).toEqual([{ name: "other" }, { name: "system" }]);

    const { revision: _revision, revision_time: _time, ...logged } = row as { revision: string; revision_time: Date };
    expect((await changesOf(place.database, place.systemOrg)).at(-1)).toMatchObject({
      ...author,
      resource_type: "Org",
      resource_id: gone.id,
      resource_path: `/orgs/@${gone.id}`,
      before: JSON.parse(JSON.stringify(logged)),
      after: null,
    });
  });

  test("is removed with the purgeable and expired resources in it, without a change for each", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "gone");
    await fillOrg(place, org, contents);
    await place.query(sql`update group_members set expire_time = ${ago}`);
    await place.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where name = 'm1'`);
    await makePurgeable(place, "members", sql`name = 'm2'`);
    await makePurgeable(place, "projects");
    await makePurgeable(place, "orgs", sql`id = ${org.id}`);
    const before = await revisionOf(place.database, place.systemOrg);
    expect((await place.createJob().runOnce()).removed).toEqual({ orgs: 1 });
    expect(await revisionOf(place.database, place.systemOrg)).toBe(before + 1);
  });

  test("takes no row of another org that has come to where one of its own was", async () => {
    const place = await openPurgePlace();
    const [gone, other] = [await addOrg(place.database, "gone"), await addOrg(place.database, "other")];
    await fillOrg(place, gone, { members: 20 });
    await makePurgeable(place, "orgs", sql`id = ${gone.id}`);
    let steps = 0;
    const job = place.createJob({ rowsPerStep: 5, maxRunMs: 1, clock: () => steps, onStep: () => steps++ });
    await job.runOnce();

    const placesOf = (org: { readonly id: string }) =>
      place.query(sql`select ctid::text as place from members where org_id = ${org.id} order by ctid`);
    const found = await placesOf(gone);
    expect(found).toHaveLength(15);
    await place.query(sql`delete from members where org_id = ${gone.id}`);
    await place.query(sql`vacuum members`);
    await fillOrg(place, other, { members: 20 });
    expect(await placesOf(other)).toEqual(expect.arrayContaining(found));

    while (!(await job.runOnce()).isDone);
    expect(await placesOf(other)).toHaveLength(20);
    expect(await place.rowsOf(gone)).toEqual({});
  });

  test("goes with a line that its log got after it was emptied", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "gone");
    await makePurgeable(place, "orgs", sql`id = ${org.id}`);
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    let running: Promise<unknown> = Promise.resolve();
    // The org is empty already, and its removal waits for this lock.
    await write(place.database, place.systemOrg, async () => {
      running = place.createJob().runOnce();
      await expect.poll(() => place.query(waiting)).toHaveLength(1);
      await fillOrg(place, org, { changes: 1 });
    });
    expect(await running).toEqual({ removed: { orgs: 1 }, isDone: true });
    expect(await place.rowsOf(org)).toEqual({});
  });
});

describe("a customer past its purge time", () => {
  test("goes with its orgs, and the log of the installation's own org says so", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await fillOrg(place, org, { members: 2 });
    await makeOrgPurgeable(place, org);
    const [row] = await place.query(sql`select * from customers where id = ${org.customer_id}`);
    expect(await place.createJob().runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
    const lines = (await changesOf(place.database, place.systemOrg)).slice(-2);
    expect(lines).toMatchObject([
      { resource_type: "Org", resource_id: org.id },
      {
        ...author,
        resource_type: "Customer",
        resource_id: org.customer_id,
        resource_path: `/customers/@${org.customer_id}`,
        before: JSON.parse(JSON.stringify(row)),
        after: null,
      },
    ]);
    expect(await place.query(sql`select name from customers`)).toEqual([{ name: "system" }]);
  });

  test("stays as long as it has an org", async () => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await makePurgeable(place, "customers", sql`id = ${org.customer_id}`);
    expect(await place.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
    await makePurgeable(place, "orgs", sql`id = ${org.id}`);
    expect((await place.createJob().runOnce()).removed).toEqual({ orgs: 1, customers: 1 });
  });
});

describe("a resource that changes between the search and its lock is not removed:", () => {
  const gone = sql`delete_time = now(), purge_time = now()`;
  const back = sql`delete_time = null, purge_time = null`;
  const invited = sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where name = 'm1'`;
  const bare = sql`with org as (delete from orgs where name = 'bare') update customers set ${gone} where name = 'bare'`;
  const changes: [string, RawBuilder<unknown>, RawBuilder<unknown>][] = [
    [
      "an invitation that is accepted",
      invited,
      sql`update members set state = 'ACTIVE', invitation_expire_time = null where name = 'm1'`,
    ],
    ["one that is extended", invited, sql`update members set invitation_expire_time = ${ahead} where name = 'm1'`],
    [
      "one that is deleted",
      invited,
      sql`update members set delete_time = now(), purge_time = ${ahead} where name = 'm1'`,
    ],
    [
      "a membership that is extended",
      sql`update group_members set expire_time = ${ago}`,
      sql`update group_members set expire_time = ${ahead}`,
    ],
    [
      "a member who is undeleted",
      sql`update members set ${gone} where name = 'm1'`,
      sql`update members set ${back} where name = 'm1'`,
    ],
    ["a project that is", sql`update projects set ${gone}`, sql`update projects set ${back}`],
    [
      "an org that is",
      sql`update orgs set ${gone} where name = 'acme'`,
      sql`update orgs set ${back} where name = 'acme'`,
    ],
    ["a customer that is", bare, sql`update customers set ${back} where name = 'bare'`],
    [
      "a customer that has an org again",
      bare,
      sql`insert into orgs (id, customer_id, state, revision, revision_time, name, display_name, description, labels, changed_revision)
        select gen_random_uuid(), id, 'ACTIVE', gen_random_uuid(), now(), 'new', '', '', '{}', gen_random_uuid() from customers where name = 'bare'`,
    ],
  ];

  test.each(changes)("%s", async (_what, makesPurgeable, change) => {
    const place = await openPurgePlace();
    const org = await addOrg(place.database, "acme");
    await addOrg(place.database, "bare");
    await fillOrg(place, org, { members: 2, keysPerMember: 1, projects: 1, groups: 1, membersPerGroup: 2 });
    const before = await place.rowsOf(org);
    await place.query(makesPurgeable);

    let isChanged = false;
    const reads = place.database.reads.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.length > 0 && !isChanged) {
          isChanged = true;
          await place.query(change);
        }
        return result;
      },
    });
    const { removed } = await place.createJob({ database: { ...place.database, reads } }).runOnce();
    expect(isChanged).toBe(true);
    expect(removed).toEqual({});
    expect(place.log).toEqual([]);
    expect(await place.rowsOf(org)).toEqual(before);
    expect(await changesOf(place.database, org)).toEqual([]);
    await rebuild(place.database);
  });
});
