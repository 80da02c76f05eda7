// Checks with the plans of PostgreSQL that what follows a log reads a page of it, and not what is after the page. The statements are planned
// once, without their values.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { type ChangeRow, selectEntriesAfter } from "../../src/events/changes/store.ts";
import { addOrg } from "../database/sample-rows.ts";
import { type PlanReader, createPlanReader } from "../standard-methods/read-plan.ts";
import { fillTables, vacuumAll } from "../support/maintain.ts";
import { createPastMonths } from "../support/past-months.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";

const limit = 101;
/** A row of a page is joined with the names of its org and of two members. */
const rowsReadForOne = 4;
const revisions = 10_000;
/** The revision that has as many entries as all others together. */
const long = 5_000;
const entries = 10_000;

let created: TestDatabase;
let database: Database;
let plans: PlanReader;
let orgId: string;
let longTime: Date;

const revisionOf = (number: number): string => {
  const digits = number.toString(16).padStart(16, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12)}-8000-000000000000`;
};

beforeAll(async () => {
  created = await createTestDatabase();
  database = openDatabase({
    connection: { connectionString: created.url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  await createPastMonths(database.writes);
  const org = await addOrg(database, "long");
  orgId = org.id;
  const member = randomUUID();
  // All in the month before, on each day: the planner reads one partition otherwise than two, of which the later has little.
  const rows = sql`
    insert into changes (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
      resource_id, container_id, resource_path, after)
    select ${org.customer_id}::uuid, ${org.id}::uuid, (lpad(to_hex(n), 16, '0') || '8000000000000000')::uuid, place,
      date_trunc('month', now(), 'UTC') - (${revisions}::int - n + 1) * interval '1 second', 4, 'method', ${org.id}, ${member}, 'Member', gen_random_uuid(), gen_random_uuid(),
      '/', '{}'
    from generate_series(1, ${revisions}::int) as n,
      generate_series(0, case when n = ${long}::int then ${entries}::int - 1 else 0 end) as place`;
  await fillTables(created.url, async (db) => void (await rows.execute(db)));
  await vacuumAll(created.url);
  const found = await sql<{ time: Date }>`
    select time from changes where org_id = ${orgId} and revision = ${revisionOf(long)} and position = 0`.execute(
    database.writes,
  );
  longTime = required(found.rows[0]).time;
  plans = createPlanReader(created.url);
});
afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

const at = revisionOf(long);
const [before, after] = [revisionOf(long - 1), revisionOf(long + 1)];

const cases = {
  "a revision": {
    from: { revision: before },
    found: [
      [before, 0],
      [at, 0],
      [at, 1],
    ],
  },
  "an entry within a long revision": {
    from: { revision: at, position: 7_000 },
    found: [
      [at, 0],
      [at, 7_001],
      [at, 7_002],
    ],
  },
  "the last but one entry of a long revision": {
    from: { revision: at, position: entries - 2 },
    found: [
      [at, 0],
      [at, entries - 1],
      [after, 0],
    ],
  },
} as const;

const all = Object.entries(cases).flatMap(([name, each]) =>
  ["force_generic_plan", "force_custom_plan"].map((mode) => [name, mode, each] as const),
);

test.each(all)("what follows %s is read without the rest of the log (%s)", async (_name, mode, { from, found }) => {
  const since = new Date(longTime.getTime() - 1_000);
  const { rows, plan } = await plans.read<ChangeRow>(
    async (db) => (await selectEntriesAfter({ orgId, since, ...from, limit, maxBytes: 131_072 }).execute(db)).rows,
    [`plan_cache_mode = ${mode}`, "enable_seqscan = off"],
  );
  expect(rows.slice(0, 3).map(({ revision, position }) => [revision, position])).toEqual(found);
  expect(rows.length).toBeGreaterThanOrEqual(limit);
  expect(plan.rowsRead, plan.text).toBeLessThanOrEqual((limit + 2) * rowsReadForOne);
});
