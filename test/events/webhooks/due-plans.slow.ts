// Checks with the plans of PostgreSQL that many webhooks cost nothing as long as nothing is due.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { noteSince, selectDue } from "../../../src/events/deliveries/due.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { type PlanReader, createPlanReader } from "../../standard-methods/read-plan.ts";
import { type TestDatabase, createTestDatabase } from "../../support/test-database.ts";
import { addEntry, addWebhooks } from "./webhook-rows.ts";

const orgs = 5_000;
const webhooksOfOrg = 20;

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
  await sql`
    insert into orgs (id, customer_id, state, revision, revision_time, name, display_name, description, labels, changed_revision)
    select gen_random_uuid(), customer_id, state, revision, revision_time, 'followed-' || n, '', '', '{}', changed_revision
    from orgs, generate_series(2, ${orgs}::int) as n where name = 'followed'`.execute(database.writes);
  await addWebhooks(database.writes, webhooksOfOrg, sql`name like 'followed%'`);
  await sql`vacuum analyze`.execute(database.writes);
  plans = createPlanReader(created.url);
}, 120_000);

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

const look = () => plans.read(async (db) => (await selectDue(256, []).execute(db)).rows);
const note = (since: Date) => plans.read(async (db) => (await noteSince(since).execute(db)).rows as object[]);

test("a look at webhooks of which none is due reads one, and what was written lately in no org notes none", async () => {
  const due = await look();
  expect(due.rows).toMatchObject([{ is_any: true, id: null }]);
  expect(due.plan.rowsRead, due.plan.text).toBeLessThanOrEqual(2);
  const noted = await note(new Date(Date.now() + 60_000));
  expect(noted.rows).toEqual([]);
  // The log has one entry.
  expect(noted.plan.rowsRead, noted.plan.text).toBeLessThanOrEqual(1);
});

test("what was written in one org is noted and found without a look at the webhooks of others", async () => {
  await addEntry(database.writes, org.id);
  const since = new Date(Date.now() - 60_000);
  const { plan } = await note(since);
  expect(plan.rowsRead, plan.text).toBeLessThan(10 * webhooksOfOrg);
  await noteSince(since).execute(database.writes);
  const due = await look();
  expect(due.rows).toHaveLength(4);
  expect(due.plan.rowsRead, due.plan.text).toBeLessThan(3 * webhooksOfOrg);
});
