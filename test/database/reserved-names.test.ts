// Tests the migration that reserves the names of deleted customers and orgs, on a database in which such names were reused.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { type Database } from "../../src/database/database.ts";
import { registry } from "../../src/resource-registry.ts";
import { checkSchema } from "../../src/standard-methods/definition/check-schema.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { sampleRevision } from "../support/revisions.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { migrateByVersions, migrateToBefore } from "./migrate-to-before.ts";

const name = "0010-reserved-names";

const idOf = (number: number): string => `01980f5e-7c1a-7b3e-9c55-${String(number).padStart(12, "0")}`;

interface Sample {
  readonly id: number;
  readonly name: string;
  /** The day on which it was deleted; undefined if it is not deleted. */
  readonly day?: number;
}

/** Inserts customers, each with an org of the same name. */
async function insertSamples(database: Database, samples: readonly Sample[]): Promise<void> {
  for (const { id, name: text, day } of samples) {
    const time = day === undefined ? null : `2026-01-${day}T12:00:00Z`;
    const values = sql`${text}, ${text}, '', '{"tier": "gold"}', gen_random_uuid(), ${time}::timestamptz, ${time}::timestamptz`;
    const columns = sql`name, display_name, description, labels, changed_revision, delete_time, purge_time`;
    await sql`insert into customers (id, ${columns}) values (${idOf(id)}, ${values})`.execute(database.writes);
    await sql`insert into orgs (id, customer_id, state, revision, ${columns})
      values (${idOf(id + 100)}, ${idOf(id)}, 'ACTIVE', ${sampleRevision(7)}, ${values})`.execute(database.writes);
  }
}

/** Makes the org the installation's own. */
async function insertInstallation(database: Database, org: string): Promise<void> {
  const operator = idOf(900);
  await sql`insert into members (org_id, id, type, state, name, display_name, description, labels, changed_revision)
    values (${org}, ${operator}, 'USER', 'ACTIVE', 'operator', '', '', '{}', gen_random_uuid())`.execute(
    database.writes,
  );
  await sql`insert into installation (system_org_id, operator_id, page_token_key) values (${org}, ${operator}, '')`.execute(
    database.writes,
  );
}

const namesOf = async (database: Database, table: "customers" | "orgs"): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by id`.execute(
    database.writes,
  );
  return rows.map((row) => row.name);
};

const long = "a".repeat(64);

const samples: readonly Sample[] = [
  { id: 1, name: "system" },
  // A name that an active resource has reused.
  { id: 2, name: "victim", day: 10 },
  { id: 3, name: "victim", day: 20 },
  { id: 4, name: "victim" },
  // Only deleted resources: the one that was deleted last keeps the name.
  { id: 5, name: "gone", day: 11 },
  { id: 6, name: "gone", day: 12 },
  // The new name exists already.
  { id: 7, name: "victim-deleted-000000000002" },
  { id: 8, name: "victim-deleted-000000000102" },
  // The new name would be too long.
  { id: 9, name: long, day: 10 },
  { id: 10, name: long },
  { id: 11, name: "kept", day: 10 },
];

const expected = (tail: (id: number) => string): string[] => [
  "system",
  `victim-deleted-${tail(2)}-1`,
  `victim-deleted-${tail(3)}`,
  "victim",
  `gone-deleted-${tail(5)}`,
  "gone",
  "victim-deleted-000000000002",
  "victim-deleted-000000000102",
  `${"a".repeat(43)}-deleted-${tail(9)}`,
  long,
  "kept",
];

test("renames deleted resources whose names were reused, and records it in the change log", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, name);
  await insertSamples(database, samples);
  await insertInstallation(database, idOf(101));
  expect(await migrateByVersions(database)).toContain(name);

  const names = { customers: await namesOf(database, "customers"), orgs: await namesOf(database, "orgs") };
  expect(names.customers).toEqual(expected((id) => String(id).padStart(12, "0")));
  expect(names.orgs).toEqual(expected((id) => String(id + 100).padStart(12, "0")));
  expect(Math.max(...Object.values(names).flatMap((all) => all.map(({ length }) => length)))).toBe(64);
  await checkSchema(database.writes, registry);

  const { rows: changes } = await sql<Record<string, unknown>>`
    select org_id, revision, resource_type, resource_id, resource_path, actor_id, before, after from changes
    where method = ${`tenantry/${name}`} order by resource_type, resource_id`.execute(database.writes);
  const renamed = [2, 3, 5, 9];
  const customers = renamed.map((id, index) => ({ id: idOf(id), org: idOf(101), number: 8 + index }));
  const orgs = renamed.map((id) => ({ id: idOf(id + 100), org: idOf(id + 100), number: 8 }));
  expect(changes.map((change) => ({ ...change, revision: Number(numberOf(String(change["revision"]))) }))).toEqual(
    [customers, orgs].flatMap((all, kind) =>
      all.map(({ id, org, number }) => {
        const [type, collection, table] =
          kind === 0 ? (["Customer", "customers", "customers"] as const) : (["Org", "orgs", "orgs"] as const);
        const index = samples.findIndex((sample) => idOf(sample.id + kind * 100) === id);
        return {
          org_id: org,
          revision: number,
          resource_type: type,
          resource_id: id,
          resource_path: `/${collection}/@${id}`,
          actor_id: null,
          before: expect.objectContaining({ id, name: samples[index]?.name }),
          after: expect.objectContaining({
            id,
            name: names[table][index],
            changed_revision: changes.find((change) => change["resource_id"] === id)?.["revision"],
          }),
        };
      }),
    ),
  );
  const { rows: heads } = await sql<{ id: string; revision: string }>`
    select id, revision from orgs where revision > ${sampleRevision(7)} order by id`.execute(database.writes);
  expect(heads.map(({ id, revision }) => [id, Number(numberOf(revision))])).toEqual([
    [idOf(101), 11],
    ...renamed.map((id) => [idOf(id + 100), 8]),
  ]);
});

test("changes nothing if no name was reused", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, name);
  await insertSamples(database, [
    { id: 1, name: "one" },
    { id: 2, name: "two", day: 10 },
  ]);
  const read = async () =>
    (
      await sql`select to_jsonb(orgs) as org, to_jsonb(customers) as customer from orgs, customers order by orgs.id`.execute(
        database.writes,
      )
    ).rows;
  const before = await read();
  await migrateByVersions(database);
  expect(await read()).toMatchObject(before);
});
