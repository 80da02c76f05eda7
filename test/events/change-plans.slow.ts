// Checks with the plans of PostgreSQL how many rows a page of a large log reads, in partitions of several months.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { changeFields } from "../../src/events/changes/fields.ts";
import { findPinned, resolvePaths } from "../../src/events/changes/resolve-paths.ts";
import type { LogOwner } from "../../src/events/changes/log-owner.ts";
import { type ChangeRow, cursorOf, selectChanges } from "../../src/events/changes/store.ts";
import { selectAccessEvents } from "../../src/events/access-events/store.ts";
import { required } from "../../src/errors/required.ts";
import { registry } from "../../src/resource-registry.ts";
import { type PlanReader, createPlanReader } from "../standard-methods/read-plan.ts";
import { fillTables, vacuumAll } from "../support/maintain.ts";
import { createPastMonths } from "../support/past-months.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";
import { addOrg } from "../database/sample-rows.ts";

const pageSize = 50;
/** A row of a page is joined with the names of its org and of two members; the first page of each partition is looked for. */
const rowsReadForOne = 4;
const count = 200_000;
const manyOrgs = 3_000;
const today = new Date();
/** The last entry is of the month before, on each day: of a month that has just begun, the planner reads all, as long as that is a few rows. */
const end = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth()) - 5 * 86_400_000);

let created: TestDatabase;
let database: Database;
let plans: PlanReader;
let org: { readonly id: string; readonly customer_id: string };
let other: { readonly id: string; readonly customer_id: string };
/** A customer with thousands of orgs. */
let many: { readonly customer_id: string };
const [actor, rareActor, member, rareMember] = [1, 2, 3, 4].map(() => randomUUID());

const open = ({ url }: TestDatabase): Database =>
  openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });

beforeAll(async () => {
  created = await createTestDatabase();
  database = open(created);
  org = await addOrg(database, "large");
  other = await addOrg(database, "small");
  await createPastMonths(database.writes, 2);
  many = await addOrg(database, "many");
  await fillTables(created.url, async (db) => {
    await sql`
      insert into changes (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
        resource_id, container_id, resource_path, after)
      select case when n % 1000 = 7 then ${other.customer_id}::uuid else ${org.customer_id}::uuid end, case when n % 1000 = 7 then ${other.id}::uuid else ${org.id}::uuid end,
        (lpad(to_hex(n), 16, '0') || '80000000' || lpad(to_hex(n), 8, '0'))::uuid, 0,
        ${end}::timestamptz - (${count}::int - n) * interval '20 seconds', 4, 'iam.v1alpha.MembersService/UpdateMember', ${org.id},
        case when n in (5, 100000) then ${rareActor}::uuid else ${actor}::uuid end, 'Member',
        case when n in (9, 150000) then ${rareMember}::uuid else gen_random_uuid() end,
        case when n in (9, 150000) then ${rareMember}::uuid when n % 2 = 0 then ${member}::uuid else gen_random_uuid() end,
        '/orgs/large/members/m' || n, '{}'
      from generate_series(1, ${count}) as n`.execute(db);
    await sql`
      insert into orgs (id, customer_id, state, revision, revision_time, name, display_name, description, labels, changed_revision,
        create_time, update_time)
      select gen_random_uuid(), customer_id, state, revision, revision_time, 'many-' || n, '', '', '{}', changed_revision, create_time,
        update_time
      from orgs, generate_series(1, ${manyOrgs}::int) as n where name = 'many'`.execute(db);
    await sql`
      insert into changes (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
        resource_id, container_id, resource_path, after)
      select customer_id, id, (lpad(to_hex(n + 1), 16, '0') || '8000000000000000')::uuid, 0,
        ${end}::timestamptz - random() * 50 * interval '1 day', 4, 'method', id, ${actor}, 'Member', gen_random_uuid(), gen_random_uuid(), '/', '{}'
      from orgs, generate_series(1, 20) as n where customer_id = ${many.customer_id}`.execute(db);
  });
  await vacuumAll(created.url);
  plans = createPlanReader(created.url);
});

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

test.each([
  [true, "latest"],
  [true, "earliest"],
  [false, "latest"],
] as const)(
  "a page of the log of a customer with thousands of orgs reads little more (suspended orgs: %s, the %s first)",
  async (suspended, order) => {
    const owner: LogOwner = { kind: "customer", id: many.customer_id, systemOrgId: other.id };
    const read = (after: readonly string[] | undefined) =>
      plans.read<ChangeRow>(async (db) => {
        const all = { condition: sql<boolean>`true`, pinned: { orgId: undefined, actor: false }, states: true };
        const page = { owner, suspended, ...all, descending: order === "latest", after, limit: pageSize + 1 };
        return (await selectChanges(page).execute(db)).rows;
      });
    const first = await read(undefined);
    const second = await read(cursorOf(required(first.rows[pageSize - 1])));
    expect(second.rows[0]?.revision).toBe(first.rows[pageSize]?.revision);
    expect(new Set(first.rows.map(({ org_id: id }) => id)).size).toBeGreaterThan(pageSize / 2);
    for (const { rows, plan } of [first, second]) {
      expect(rows).toHaveLength(pageSize + 1);
      // One row more for the state of its org.
      expect(plan.rowsRead, plan.text).toBeLessThanOrEqual((pageSize + 1) * (rowsReadForOne + 1));
    }
  },
);

test("a page of sign-ins and refused calls reads little more", async () => {
  const events = sql`
    insert into access_events (customer_id, org_id, id, time, last_time, count, kind, method, resource_path, reason, reason_detail)
    select ${org.customer_id}, ${org.id}, gen_random_uuid(), now() - n * interval '1 minute', now(), 1, 'CALL_REFUSED', 'method',
      '', '', '' from generate_series(1, 50000) as n`;
  await fillTables(created.url, async (db) => {
    await events.execute(db);
    await sql`analyze access_events`.execute(db);
  });
  for (const descending of [true, false]) {
    const { rows, plan } = await plans.read(async (db) => {
      const page = { orgId: org.id, condition: sql<boolean>`true`, descending, after: undefined, limit: pageSize + 1 };
      return (await selectAccessEvents(page).execute(db)).rows;
    });
    expect(rows).toHaveLength(pageSize + 1);
    expect(plan.rowsRead, plan.text).toBeLessThanOrEqual((pageSize + 1) * rowsReadForOne);
  }
});

const ownerOf = (kind: LogOwner["kind"]): LogOwner => {
  if (kind === "org") return { kind, id: org.id };
  return kind === "customer" ? { kind, id: org.customer_id, systemOrgId: other.id } : { kind };
};

const path = (id: string | undefined) => `/orgs/@${org.id}/members/@${id}`;

const filters: Readonly<Record<string, () => string>> = {
  nothing: () => "",
  "an actor of most": () => `actor_path = "${path(actor)}"`,
  "an actor of two": () => `actor_path = "${path(rareActor)}"`,
  "a resource": () => `resource_path = "${path(rareMember)}"`,
  "what is in half": () => `resource_path:"${path(member)}"`,
  "what is in two": () => `resource_path:"${path(rareMember)}"`,
  "a time in the middle": () => `time < ${new Date(end.getTime() - 0.4 * count * 20_000).toISOString()}`,
};

const cases = (["org", "customer", "platform"] as const).flatMap((kind) =>
  Object.keys(filters).flatMap((filter) =>
    // The platform is read by time alone.
    kind === "platform" && filter !== "nothing" && !filter.includes("time")
      ? []
      : [true, false].map((descending) => [kind, filter, descending ? "latest" : "earliest"] as const),
  ),
);

test.each(cases)(
  "a page of the log of the %s, filtered by %s, the %s first, reads little more",
  async (kind, filter, order) => {
    const resolved = await resolvePaths(
      { database, registry, owner: ownerOf(kind), holds: () => Promise.resolve(true) },
      readFilter(required(filters[filter])(), changeFields),
    );
    const [condition, pinned] = [toSql(resolved), findPinned(resolved)];
    const read = (after: readonly string[] | undefined) =>
      plans.read<ChangeRow>(async (db) => {
        const page = {
          owner: ownerOf(kind),
          suspended: true,
          states: true,
          condition,
          pinned,
          descending: order === "latest",
          after,
          limit: pageSize + 1,
        };
        return (await selectChanges(page).execute(db)).rows;
      });
    const first = await read(undefined);
    const isRare = filter.includes("two") || filter === "a resource";
    expect(first.rows).toHaveLength(isRare ? 2 : pageSize + 1);
    const pages = [first];
    if (!isRare) {
      const second = await read(cursorOf(required(first.rows[pageSize - 1])));
      expect(second.rows[0]?.revision).toBe(first.rows[pageSize]?.revision);
      pages.push(second);
    }
    for (const { plan } of pages) {
      expect(plan.rowsRead, plan.text).toBeLessThanOrEqual((pageSize + 1) * rowsReadForOne);
    }
  },
);

test("what an actor did is looked for by its index in each log of a customer, also where all is in one of them", async () => {
  const alone = await createTestDatabase();
  const opened = open(alone);
  const reader = createPlanReader(alone.url);
  onTestFinished(async () => {
    await reader.close();
    await opened.close();
    await alone.drop();
  });
  await createPastMonths(opened.writes);
  const { id, customer_id: customerId } = await addOrg(opened, "alone");
  await fillTables(alone.url, async (db) => {
    await sql`
      insert into changes (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
        resource_id, container_id, resource_path, after)
      select ${customerId}, ${id}, (lpad(to_hex(n), 16, '0') || '8000000000000000')::uuid, 0, ${end}::timestamptz - n * interval '1 second', 4, 'method',
        ${id}, ${actor}, 'Member', gen_random_uuid(), gen_random_uuid(), '/', '{}'
      from generate_series(1, 50000) as n`.execute(db);
  });
  await vacuumAll(alone.url);
  const owner: LogOwner = { kind: "customer", id: customerId, systemOrgId: randomUUID() };
  const resolved = await resolvePaths(
    { database: opened, registry, owner, holds: () => Promise.resolve(true) },
    readFilter(`actor_path = "/orgs/@${id}/members/@${actor}"`, changeFields),
  );
  for (const descending of [true, false]) {
    const { rows, plan } = await reader.read(async (db) => {
      const matched = { condition: toSql(resolved), pinned: findPinned(resolved) };
      const all = { owner, suspended: true, states: true, after: undefined };
      return (await selectChanges({ ...all, ...matched, descending, limit: pageSize + 1 }).execute(db)).rows;
    });
    expect(rows).toHaveLength(pageSize + 1);
    expect(plan.rowsRead, plan.text).toBeLessThanOrEqual((pageSize + 1) * rowsReadForOne);
  }
});
