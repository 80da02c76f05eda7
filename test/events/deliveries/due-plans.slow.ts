// Checks with the plans of PostgreSQL that many webhooks and event streams cost nothing as long as nothing is due.
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { noteLogs, selectLogsSince, selectNextLog } from "../../../src/events/deliveries/customer-logs.ts";
import { noteSince, selectDue } from "../../../src/events/deliveries/due.ts";
import { streamFollowers, webhookFollowers } from "../../../src/events/deliveries/followers.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { type PlanReader, createPlanReader } from "../../standard-methods/read-plan.ts";
import { fillTables, vacuumAll } from "../../support/maintain.ts";
import { type TestDatabase, createTestDatabase } from "../../support/test-database.ts";
import { addEntry, addFollowers, addWebhooksOfCustomer } from "./follower-rows.ts";

const orgs = 5_000;
const followersOfOrg = 20;
const kinds = [
  ["webhooks", webhookFollowers],
  ["event streams", streamFollowers],
] as const;

let created: TestDatabase;
let database: Database;
let plans: PlanReader;
let org: { readonly id: string };

beforeAll(async () => {
  created = await createTestDatabase();
  const onConnectionError = (): void => {};
  const connection = { connectionString: created.url };
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError });
  org = await addOrg(database, "followed");
  const others = sql`
    insert into orgs (id, customer_id, state, revision, revision_time, name, display_name, description, labels, changed_revision)
    select gen_random_uuid(), customer_id, state, revision, revision_time, 'followed-' || n, '', '', '{}', changed_revision
    from orgs, generate_series(2, ${orgs}::int) as n where name = 'followed'`;
  await fillTables(created.url, async (db) => {
    await others.execute(db);
    for (const [, followers] of kinds) await addFollowers(db, followers, followersOfOrg, sql`name like 'followed%'`);
  });
  await vacuumAll(created.url);
  plans = createPlanReader(created.url);
});

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

const inAMinute = new Date(Date.now() + 60_000);

describe.each(kinds)("%s", (_called, followers) => {
  const look = () => plans.read(async (db) => (await selectDue(followers, 256, []).execute(db)).rows);
  const note = (since: Date) =>
    plans.read(async (db) => (await noteSince(followers, since).execute(db)).rows as object[]);

  test("a look when none is due reads one, and what was written lately in no org notes none", async () => {
    const due = await look();
    expect(due.rows).toMatchObject([{ is_any: true, id: null }]);
    expect(due.plan.rowsRead, due.plan.text).toBeLessThanOrEqual(2);
    const noted = await note(inAMinute);
    expect(noted.rows).toEqual([]);
    // The log has an entry of this test file for each kind.
    expect(noted.plan.rowsRead, noted.plan.text).toBeLessThanOrEqual(2);
  });

  test("what was written in one org is noted and found without a look at those of others", async () => {
    await addEntry(database.writes, org.id);
    const since = new Date(Date.now() - 60_000);
    const { plan } = await note(since);
    expect(plan.rowsRead, plan.text).toBeLessThan(10 * followersOfOrg);
    await noteSince(followers, since).execute(database.writes);
    const due = await look();
    expect(due.rows).toHaveLength(4);
    expect(due.plan.rowsRead, due.plan.text).toBeLessThan(3 * followersOfOrg);
  });
});

describe("webhooks of a customer with thousands of orgs", () => {
  const note = (since: Date) =>
    plans.read(async (db) => (await noteLogs(selectLogsSince(since)).execute(db)).rows as object[]);
  const aMinuteAgo = () => new Date(Date.now() - 60_000);

  test("without any, what was written lately is not read", async () => {
    const { plan } = await note(aMinuteAgo());
    expect(plan.rowsRead, plan.text).toBe(0);
  });

  test("what was written in one org is noted and found without a look at the other logs", async () => {
    const { rows } = await sql<{ customer_id: string }>`select customer_id from orgs where id = ${org.id}`.execute(
      database.writes,
    );
    const customerId = rows[0]?.customer_id ?? "";
    const [id = ""] = await addWebhooksOfCustomer(database.writes, customerId, 1);
    // Each log has been delivered once.
    await sql`
      insert into webhook_logs (customer_id, org_id, webhook_id, noted_time, cursor_time, cursor_revision, cursor_position)
      select customer_id, id, ${id}, now(), clock_timestamp(), revision, 2147483647
      from orgs where customer_id = ${customerId}`.execute(database.writes);
    await vacuumAll(created.url);
    await addEntry(database.writes, org.id);
    const { plan } = await note(aMinuteAgo());
    expect(plan.rowsRead, plan.text).toBeLessThan(100);
    await noteLogs(selectLogsSince(aMinuteAgo())).execute(database.writes);
    const leaseId = "00000000-0000-7000-8000-000000000001";
    await sql`update webhooks set lease_id = ${leaseId} where id = ${id}`.execute(database.writes);
    const lease = { place: { customer_id: customerId, org_id: customerId, id }, id: leaseId };
    const next = await plans.read(async (db) => (await selectNextLog(lease).execute(db)).rows);
    expect(next.rows).toMatchObject([{ log_id: org.id }]);
    expect(next.plan.rowsRead, next.plan.text).toBeLessThan(10);
  });
});
