// Checks with the plans of PostgreSQL that what findings read does not grow with an org: no table is scanned, and a statement reads a bounded
// number of rows for each candidate. CI runs it on PostgreSQL 15, too.
import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeUses } from "../../../src/access/uses/store.ts";
import { composeContract } from "../../../src/compose/contract.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import { type FoundRow, selectFindings } from "../../../src/iam/findings/finding-source.ts";
import { findingSources, readFindingsFilter } from "../../../src/iam/findings/list-findings.ts";
import { registry } from "../../../src/resource-registry.ts";
import { insertManyRows, large, largest } from "../../standard-methods/many-rows.ts";
import { type PlanReader, createPlanReader } from "../../standard-methods/read-plan.ts";
import { fillWithoutIndexes } from "../../standard-methods/without-indexes.ts";
import { vacuumAll } from "../../support/maintain.ts";
import { type TestDatabase, createTestDatabase } from "../../support/test-database.ts";

const atOnce = 50;
/** Of a candidate: its path, its subject or group with those above it and what these are granted, and its uses. */
const rowsReadForOne = 120;

let created: TestDatabase;
let database: Database;
let plans: PlanReader;
/** There is no other way to read them. */
let emptyTables: readonly string[];

const org = { id: largest("Org"), customer_id: largest("Customer") };
const question = {
  org,
  unusedDays: 30,
  recordedSince: new Date(0),
  predefinedRoles: composeContract(registry).predefinedRoles,
};

beforeAll(async () => {
  created = await createTestDatabase();
  database = openDatabase({
    connection: { connectionString: created.url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  await fillWithoutIndexes(created.url, async (db) => {
    await insertManyRows(db, registry.definitions);
    await sql`update roles set permissions = array(select 'compute.things.do' || n from generate_series(1, 20) as n)`.execute(
      db,
    );
    // Half of everything was used.
    const used: readonly (readonly [table: string, id: RawBuilder<unknown>, part: RawBuilder<unknown>])[] = [
      ["role_bindings", sql`id`, sql`''`],
      ["group_members", sql`member_id`, sql`group_id::text`],
      ["subgroups", sql`subgroup_id`, sql`group_id::text`],
      ["clients", sql`id`, sql`''`],
      ["members", sql`id`, sql`''`],
      ["roles", sql`id`, sql`unnest(permissions)`],
    ];
    for (const [table, id, part] of used) {
      const customer = sql.ref(table === "role_bindings" ? "org_customer_id" : "customer_id");
      await sql`
        insert into access_uses (customer_id, org_id, used_id, part, last_day)
        select ${customer}, org_id, ${id}, ${part}, now() - random() * interval '60 days' from ${sql.table(table)}
        where random() < 0.5 on conflict do nothing`.execute(db);
    }
  });
  // Without that of the whole log, its partitions have lost it.
  await sql`drop index changes_by_container`.execute(database.writes);
  await sql`create index changes_by_container on changes (org_id, container_id, time)`.execute(database.writes);
  await sql`
    insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, container_id,
      resource_path, after)
    select customer_id, org_id, gen_random_uuid(), 0, now(), 4, '', 'Session', id, id, '', '{}' from members`.execute(
    database.writes,
  );
  await vacuumAll(created.url);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and reltuples <= 0`.execute(database.reads);
  emptyTables = rows.map(({ name }) => name);
  plans = createPlanReader(created.url);
});

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

test.each(findingSources.map((source) => [source.kind, source] as const))(
  "%s: a page in the middle of a large org reads no table from end to end",
  async (_, source) => {
    const { where } = readFindingsFilter("");
    const read = (after: readonly string[] | undefined) =>
      plans.read(async (db) => {
        const page = { after, limit: 20, filter: where };
        return (await selectFindings({ ...source, atOnce }, question, page).execute(db)).rows;
      });
    const { rows: first } = await read(undefined);
    const [{ examined, last_key: lastKey } = { examined: 0, last_key: null }] = first as readonly FoundRow[];
    expect(examined).toBe(atOnce);
    const { plan } = await read(required(lastKey));
    expect(
      plan.scannedTables.filter((table) => !emptyTables.includes(table)),
      plan.text,
    ).toEqual([]);
    expect(plan.rowsRead, plan.text).toBeLessThanOrEqual(atOnce * rowsReadForOne);
  },
);

test("to write uses reads as many rows as are written", async () => {
  const ids = Array.from({ length: 50 }, (_, index) => ({
    id: largest("RoleBinding"),
    part: String(index),
    day: 20_000,
  }));
  const { plan } = await plans.read(async (db) => {
    await writeUses(db, org.id, ids);
    return [];
  });
  expect(plan.scannedTables, plan.text).toEqual([]);
  expect(plan.rowsRead, plan.text).toBeLessThan(large / 10);
});
