// Tests what a run removes and keeps, and what it records in the change log.
import { customerDefinition } from "../../../src/iam/customers/definition.ts";
import { beginWrite, inTransaction } from "../../../src/changes/write-in-org.ts";
import { orgDefinition } from "../../../src/iam/orgs/definition.ts";
import { type RawBuilder, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { registry } from "../../../src/resource-registry.ts";
import { orgTablesOf } from "../../../src/jobs/purge/org-tables.ts";
import { changesOf, headOf, revisionOf } from "../../changes/logged-writes.ts";
import { addMember, addOrg, rebuild, sampleAuthor } from "../../database/sample-rows.ts";
import {
  fillOrg,
  fillRest,
  makePurgeable,
  makeOrgPurgeable,
  openPurgeFixture,
  retentionDays,
} from "./purge-fixture.ts";

const dayMs = 86_400_000;
const ago = sql`now() - interval '1 second'`;
const ahead = sql`now() + interval '1 hour'`;
const author = { actor_id: null, method: "tenantry/purge" };

/** Returns a row as the change log has it. */
function loggedOf(row: Record<string, unknown> | undefined): unknown {
  return JSON.parse(
    JSON.stringify({ ...row, customer_id: undefined, inviter_org_id: undefined, inviter_id: undefined }),
  );
}

test("a run without anything to purge changes and logs nothing", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, { members: 3, keysPerMember: 2, projects: 2, groups: 2, membersPerGroup: 2, changes: 2 });
  await fixture.query(sql`update members set delete_time = now(), purge_time = ${ahead} where name = 'm1'`);
  await fixture.query(sql`update projects set delete_time = now(), purge_time = ${ahead} where name = 'p1'`);
  await fixture.query(sql`update group_members set expire_time = ${ahead}`);
  await rebuild(fixture.database);
  const before = await fixture.rowsOf(org);
  expect(await fixture.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
  expect(await fixture.rowsOf(org)).toEqual(before);
  expect(await revisionOf(fixture.database, org)).toBe(1);
  expect(fixture.log).toEqual([]);
});

describe("an expired invitation", () => {
  test("is deleted like with Delete: it is kept until it is purged, its name is free, and the change is logged", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    const { id } = await addMember(fixture.database, org, "late");
    await fixture.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where id = ${id}`);
    expect(await fixture.createJob().runOnce()).toEqual({ removed: { invitations: 1 }, isDone: true });

    const [row] = await fixture.query(sql`select * from members where id = ${id}`);
    expect(row).toMatchObject({
      state: "INVITED",
      delete_time: expect.any(Date),
      changed_revision: await headOf(fixture.database, org),
    });
    const { delete_time: deleteTime, purge_time: purgeTime } = row as { delete_time: Date; purge_time: Date };
    expect(purgeTime.getTime() - deleteTime.getTime()).toBe(retentionDays * dayMs);
    await addMember(fixture.database, org, "late");

    expect(await changesOf(fixture.database, org)).toMatchObject([
      {
        ...author,
        revision: await headOf(fixture.database, org),
        resource_type: "Member",
        resource_id: id,
        resource_path: "/orgs/acme/members/late",
        before: { name: "late", state: "INVITED", delete_time: null },
        after: { name: "late", state: "INVITED", delete_time: deleteTime.toISOString() },
      },
    ]);
  });

  test("is kept if it is open, accepted or already deleted", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    for (const name of ["open", "accepted", "deleted"]) await addMember(fixture.database, org, name);
    await fixture.query(
      sql`update members set state = 'INVITED', invitation_expire_time = ${ahead} where name = 'open'`,
    );
    await fixture.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago},
      delete_time = now(), purge_time = ${ahead} where name = 'deleted'`);
    await rebuild(fixture.database);
    expect(await fixture.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
    expect(await changesOf(fixture.database, org)).toEqual([]);
  });
});

test("only expired memberships are removed, and each removal is logged", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, { members: 3, groups: 1, membersPerGroup: 3 });
  await fixture.query(sql`update group_members set expire_time = ${ago}
    where member_id = (select id from members where name = 'm1')`);
  await fixture.query(sql`update group_members set expire_time = ${ahead}
    where member_id = (select id from members where name = 'm2')`);
  const [expired] = await fixture.query(sql`select * from group_members where expire_time < now()`);
  expect(await fixture.createJob().runOnce()).toEqual({ removed: { memberships: 1 }, isDone: true });
  expect(await fixture.query(sql`select name from group_members join members on id = member_id order by 1`)).toEqual([
    { name: "m2" },
    { name: "m3" },
  ]);
  expect(await changesOf(fixture.database, org)).toEqual([
    expect.objectContaining({
      ...author,
      revision: await headOf(fixture.database, org),
      resource_type: "GroupMember",
      resource_id: expired?.["member_id"],
      resource_path: "/orgs/acme/groups/g1/members/m1",
      before: loggedOf(expired),
      after: null,
    }),
  ]);
});

test("members and projects past their purge time are removed with their dependents, with one change each", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  const contents = { members: 3, keysPerMember: 2, requestsPerMember: 2, projects: 3, groups: 2, membersPerGroup: 3 };
  await fillOrg(fixture, org, { ...contents, hasRoles: true });
  for (const table of ["members", "projects"] as const) {
    await makePurgeable(fixture, table, sql`name in ('m1', 'm2', 'p1')`);
  }
  const purgeable = await fixture.query(sql`select * from members where purge_time is not null order by name`);
  expect(await fixture.createJob().runOnce()).toEqual({ removed: { projects: 1, members: 2 }, isDone: true });

  const { changes, resource_counts: _counts, ...left } = await fixture.rowsOf(org);
  expect(changes).toBe(3);
  expect(left).toEqual({
    members: 1,
    api_keys: 2,
    directory: 4,
    write_requests: 2,
    group_members: 2,
    projects: 2,
    groups: 2,
    subgroups: 1,
    roles: 1,
    // One on the org, and one on each of two projects.
    role_bindings: 3,
  });
  expect(
    await fixture.query(sql`select resource_type, sum(count)::int as n from resource_counts
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
  const lines = await changesOf(fixture.database, org);
  expect(lines.map((line) => line.resource_type).toSorted()).toEqual(["Member", "Member", "Project"]);
  expect(lines.find((line) => line.resource_id === purgeable[0]?.["id"])).toMatchObject({
    ...author,
    resource_path: `/orgs/acme/members/@${String(purgeable[0]?.["id"])}`,
    before: loggedOf(purgeable[0]),
    after: null,
  });
  expect(lines.find((line) => line.resource_type === "Project")?.before).not.toHaveProperty("org_name");
});

test.each([
  ["suspended", sql`state = 'SUSPENDED'`, "acme"],
  ["deleted but not past its purge time", sql`delete_time = now(), purge_time = ${ahead}`, undefined],
])("resources past their purge time in an org that is %s are removed", async (_state, change, name) => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, { members: 4, projects: 1, groups: 1, membersPerGroup: 4 });
  await fixture.query(sql`update orgs set ${change} where id = ${org.id}`);
  await makePurgeable(fixture, "members", sql`name = 'm1'`);
  await makePurgeable(fixture, "projects");
  await fixture.query(sql`update group_members set expire_time = ${ago}
    where member_id = (select id from members where name = 'm2')`);
  await fixture.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where name = 'm3'`);
  expect(await fixture.createJob().runOnce()).toEqual({
    removed: { invitations: 1, memberships: 1, projects: 1, members: 1 },
    isDone: true,
  });
  const lines = await changesOf(fixture.database, org);
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

  test("is removed with everything in it, and other orgs are unchanged", async () => {
    const fixture = await openPurgeFixture();
    const [gone, other] = [await addOrg(fixture.database, "gone"), await addOrg(fixture.database, "other")];
    for (const org of [gone, other]) {
      await fillOrg(fixture, org, contents);
      await fillRest(fixture, org);
    }
    await fixture.query(sql`update members set labels = '{"tier": "gold"}' where name = 'm1'`);
    // Infrastructure resources are not purged: their providers delete them.
    await fixture.query(sql`delete from resource_references where org_id = ${gone.id}`);
    await fixture.query(sql`delete from resources where org_id = ${gone.id}`);
    await rebuild(fixture.database);
    const before = await fixture.rowsOf(other);
    expect(Object.keys(before)).toEqual([...orgTablesOf(registry), "directory"].toSorted());
    await makePurgeable(fixture, "orgs", sql`id = ${gone.id}`);
    const [row] = await fixture.query(sql`select * from orgs where id = ${gone.id}`);
    expect(await fixture.createJob().runOnce()).toEqual({ removed: { orgs: 1 }, isDone: true });
    expect(await fixture.rowsOf(gone)).toEqual({});
    expect(await fixture.rowsOf(other)).toEqual(before);
    expect(await fixture.query(sql`select name from orgs order by 1`)).toEqual([{ name: "other" }, { name: "system" }]);

    const unread = new Set<string>(orgDefinition.storage.unread);
    const logged = Object.fromEntries(Object.entries(row ?? {}).filter(([column]) => !unread.has(column)));
    expect((await changesOf(fixture.database, { id: gone.customer_id })).at(-1)).toMatchObject({
      ...author,
      resource_type: "Org",
      resource_id: gone.id,
      resource_path: `/orgs/@${gone.id}`,
      before: JSON.parse(JSON.stringify(logged)),
      after: null,
    });
  });

  test("is removed with the purgeable and expired resources in it, with a single change", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "gone");
    await fillOrg(fixture, org, contents);
    await fixture.query(sql`update group_members set expire_time = ${ago}`);
    await fixture.query(sql`update members set state = 'INVITED', invitation_expire_time = ${ago} where name = 'm1'`);
    await makePurgeable(fixture, "members", sql`name = 'm2'`);
    await makePurgeable(fixture, "projects");
    await makePurgeable(fixture, "orgs", sql`id = ${org.id}`);
    const before = await changesOf(fixture.database, { id: org.customer_id });
    expect((await fixture.createJob().runOnce()).removed).toEqual({ orgs: 1 });
    expect(await changesOf(fixture.database, { id: org.customer_id })).toHaveLength(before.length + 1);
  });

  test("does not remove the row of another org that reuses the location of a removed row", async () => {
    const fixture = await openPurgeFixture();
    const [gone, other] = [await addOrg(fixture.database, "gone"), await addOrg(fixture.database, "other")];
    await fillOrg(fixture, gone, { members: 20 });
    await makePurgeable(fixture, "orgs", sql`id = ${gone.id}`);
    let steps = 0;
    const job = fixture.createJob({ rowsPerStep: 5, maxRunMs: 1, clock: () => steps, onStep: () => steps++ });
    await job.runOnce();

    const locationsOf = (org: { readonly id: string }) =>
      fixture.query(sql`select ctid::text as location from members where org_id = ${org.id} order by ctid`);
    const found = await locationsOf(gone);
    expect(found).toHaveLength(15);
    await fixture.query(sql`delete from members where org_id = ${gone.id}`);
    await fixture.query(sql`vacuum members`);
    await fillOrg(fixture, other, { members: 20 });
    expect(await locationsOf(other)).toEqual(expect.arrayContaining(found));

    while (!(await job.runOnce()).isDone);
    expect(await locationsOf(other)).toHaveLength(20);
    expect(await fixture.rowsOf(gone)).toEqual({});
  });

  test("is removed with an entry that was added to its change log in the meantime", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "gone");
    await makePurgeable(fixture, "orgs", sql`id = ${org.id}`);
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    let running: Promise<unknown> = Promise.resolve();
    // Everything else of the org is removed already; the last step waits for this lock.
    await inTransaction(fixture.database, async (db) => {
      await beginWrite(db, { logOfCustomer: { by: "id", value: org.customer_id } }, sampleAuthor);
      running = fixture.createJob().runOnce();
      await expect.poll(() => fixture.query(waiting)).toHaveLength(1);
      await fillOrg(fixture, org, { changes: 1 });
    });
    expect(await running).toEqual({ removed: { orgs: 1 }, isDone: true });
    expect(await fixture.rowsOf(org)).toEqual({});
  });
});

describe("a customer past its purge time", () => {
  test("is removed with its orgs, which is recorded in its own log, and that it is gone in that of the org system", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await fillOrg(fixture, org, { members: 2 });
    await makeOrgPurgeable(fixture, org);
    const [row] = await fixture.query(sql`select * from customers where id = ${org.customer_id}`);
    expect(await fixture.createJob().runOnce()).toEqual({ removed: { orgs: 1, customers: 1 }, isDone: true });
    expect((await changesOf(fixture.database, { id: org.customer_id })).slice(1)).toMatchObject([
      { resource_type: "Org", resource_id: org.id },
    ]);
    const unread = new Set<string>(customerDefinition.storage.unread);
    const logged = Object.fromEntries(Object.entries(row ?? {}).filter(([column]) => !unread.has(column)));
    expect((await changesOf(fixture.database, fixture.systemOrg)).at(-1)).toMatchObject({
      ...author,
      resource_type: "Customer",
      resource_id: org.customer_id,
      resource_path: `/customers/@${org.customer_id}`,
      before: JSON.parse(JSON.stringify(logged)),
      after: null,
    });
    expect(await fixture.query(sql`select name from customers`)).toEqual([{ name: "system" }]);
  });

  test("is kept as long as it has an org", async () => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await makePurgeable(fixture, "customers", sql`id = ${org.customer_id}`);
    expect(await fixture.createJob().runOnce()).toEqual({ removed: {}, isDone: true });
    await makePurgeable(fixture, "orgs", sql`id = ${org.id}`);
    expect((await fixture.createJob().runOnce()).removed).toEqual({ orgs: 1, customers: 1 });
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
    [
      "an invitation that is extended",
      invited,
      sql`update members set invitation_expire_time = ${ahead} where name = 'm1'`,
    ],
    [
      "an invitation that is deleted",
      invited,
      sql`update members set delete_time = now(), purge_time = ${ahead} where name = 'm1'`,
    ],
    [
      "a membership that is extended",
      sql`update group_members set expire_time = ${ago}`,
      sql`update group_members set expire_time = ${ahead}`,
    ],
    [
      "a member that is undeleted",
      sql`update members set ${gone} where name = 'm1'`,
      sql`update members set ${back} where name = 'm1'`,
    ],
    ["a project that is undeleted", sql`update projects set ${gone}`, sql`update projects set ${back}`],
    [
      "an org that is undeleted",
      sql`update orgs set ${gone} where name = 'acme'`,
      sql`update orgs set ${back} where name = 'acme'`,
    ],
    ["a customer that is undeleted", bare, sql`update customers set ${back} where name = 'bare'`],
    [
      "a customer that gets a new org",
      bare,
      sql`insert into orgs (id, customer_id, state, revision, revision_time, name, display_name, description, labels, changed_revision)
        select gen_random_uuid(), id, 'ACTIVE', gen_random_uuid(), now(), 'new', '', '', '{}', gen_random_uuid() from customers where name = 'bare'`,
    ],
  ];

  test.each(changes)("%s", async (_what, makesPurgeable, change) => {
    const fixture = await openPurgeFixture();
    const org = await addOrg(fixture.database, "acme");
    await addOrg(fixture.database, "bare");
    await fillOrg(fixture, org, { members: 2, keysPerMember: 1, projects: 1, groups: 1, membersPerGroup: 2 });
    const before = await fixture.rowsOf(org);
    await fixture.query(makesPurgeable);

    let isChanged = false;
    const reads = fixture.database.reads.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.length > 0 && !isChanged) {
          isChanged = true;
          await fixture.query(change);
        }
        return result;
      },
    });
    const { removed } = await fixture.createJob({ database: { ...fixture.database, reads } }).runOnce();
    expect(isChanged).toBe(true);
    expect(removed).toEqual({});
    expect(fixture.log).toEqual([]);
    expect(await fixture.rowsOf(org)).toEqual(before);
    expect(await changesOf(fixture.database, org)).toEqual([]);
    await rebuild(fixture.database);
  });
});
