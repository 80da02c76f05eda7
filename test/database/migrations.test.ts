// Tests what migrations do to the rows of an older database.
import { type Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { addRevisionTokens } from "../../src/database/migrations/0009-revision-tokens.ts";
import { partitionChangeLog } from "../../src/database/migrations/0011-change-log.ts";
import { addServiceBindings } from "../../src/database/migrations/0015-service-bindings.ts";
import { acceptIdentities } from "../../src/database/migrations/0036-accepted-identities.ts";
import { boundWhatCounts } from "../../src/database/migrations/0039-counted-kinds.ts";
import { migrate } from "../../src/database/migrate.ts";
import { logIndexes } from "../../src/database/migrations/0052-log-indexes.ts";
import { createPartitions } from "../../src/database/partitions.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { migrateToBefore } from "./migrate-to-before.ts";

type Migration = (db: Kysely<unknown>) => Promise<void>;

/** Opens a database with the schema before a migration. */
async function openBefore(name: string): Promise<Database> {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, name);
  return database;
}

const run = ({ writes }: Database, migration: Migration): Promise<void> =>
  writes.transaction().execute((db) => migration(db as unknown as Kysely<unknown>));

const [system, acme, customer, member, project, service] = [1, 2, 3, 4, 5, 6].map(
  (n) => `01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a0${n}`,
);

test("0009-revision-tokens sets one token per revision, wherever it is stored, and different tokens in each database", async () => {
  const tokens = [];
  for (let copy = 0; copy < 2; copy++) {
    const database = await openBefore("0009-revision-tokens");
    const named = sql.raw("name, display_name, description, labels, changed_revision");
    for (const statement of [
      sql`insert into customers (id, ${named}) values (${customer}, 'acme', '', '', '{}', 1)`,
      sql`insert into orgs (id, customer_id, state, revision, ${named}) values
        (${system}, ${customer}, 'ACTIVE', 1, 'system', '', '', '{}', 1),
        (${acme}, ${customer}, 'ACTIVE', 300, 'acme', '', '', '{}', 299)`,
      sql`insert into members (org_id, id, type, state, ${named}) values
        (${system}, ${member}, 'APPLICATION', 'ACTIVE', 'operator', '', '', '{}', 1),
        (${acme}, ${member}, 'USER', 'ACTIVE', 'alice', '', '', '{}', 300)`,
      sql`insert into installation (system_org_id, operator_id, page_token_key) values (${system}, ${member}, '')`,
      sql`insert into changes (org_id, revision, position, method, resource_type, resource_id, resource_path, writer, after)
        select ${acme}::uuid, n, 0, 'test', 'Org', ${acme}::uuid, '', 2, '{}' from generate_series(298, 300) n`,
    ]) {
      await statement.execute(database.writes);
    }
    await run(database, addRevisionTokens);
    const { rows } = await sql<Record<string, string>>`
      select orgs.revision as head, orgs.changed_revision as org, members.changed_revision as member,
        customers.changed_revision as customer, systems.revision as system,
        (select string_agg(revision::text, ' ' order by revision) from changes) as log
      from orgs join members on org_id = orgs.id join customers on customers.id = customer_id
        join orgs systems on systems.id = ${system}
      where orgs.id = ${acme}`.execute(database.reads);
    const { head = "", org = "", log = "", ...rest } = rows[0] ?? {};
    expect(head).toMatch(/^00000000-0000-012c-/);
    expect(org).toMatch(/^00000000-0000-012b-/);
    expect(rest).toEqual({
      member: head,
      customer: rest["system"],
      system: expect.stringMatching(/^00000000-0000-0001-/),
    });
    expect(log.split(" ").slice(1)).toEqual([org, head]);
    expect(new Set([head, org, rest["system"]].map((revision) => revision?.slice(19))).size).toBe(3);
    tokens.push(head);
  }
  expect(new Set(tokens).size).toBe(2);
});

test("0011-change-log keeps all entries, with times that never decrease", async () => {
  const database = await openBefore("0011-change-log");
  const named = sql.raw("name, display_name, description, labels, changed_revision");
  for (const statement of [
    sql`insert into customers (id, ${named}) values (${customer}, 'acme', '', '', '{}', ${acme})`,
    sql`insert into orgs (id, customer_id, state, revision, ${named})
      values (${acme}, ${customer}, 'ACTIVE', ${acme}, 'acme', '', '', '{}', ${acme})`,
    // The clock goes back by two months, and forward again.
    sql`insert into changes (org_id, revision, position, method, resource_type, resource_id, resource_path, writer, after,
        create_time)
      select ${acme}::uuid, lpad(n::text, 32, '0')::uuid, 0, 'test', 'Org', ${acme}::uuid, '', 2, jsonb_build_object('n', n),
        timestamptz '2025-03-15 12:00Z' - (n % 3) * interval '1 month' from generate_series(1, 9) n`,
  ]) {
    await statement.execute(database.writes);
  }
  await run(database, partitionChangeLog);
  const { rows } = await sql<{ n: number; time: Date; partition: string }>`
    select (after ->> 'n')::int as n, time, tableoid::regclass::text as partition from changes order by revision`.execute(
    database.reads,
  );
  expect(rows.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(rows.map(({ time }) => time.toISOString().slice(0, 7))).toEqual([
    "2025-02",
    "2025-02",
    ...Array.from({ length: 7 }, () => "2025-03"),
  ]);
  expect(new Set(rows.map(({ partition }) => partition))).toEqual(new Set(["changes_2025_02", "changes_2025_03"]));
  const [org] = await database.reads.selectFrom("orgs").select(["revision_time", "update_time"]).execute();
  expect(org?.revision_time).toEqual(org?.update_time);
});

test("0015-service-bindings keeps the scopes of all role bindings, and their names unique", async () => {
  const database = await openBefore("0015-service-bindings");
  const named = sql.raw("name, display_name, description, labels, changed_revision");
  const fields = (name: string) => sql`${name}, '', '', '{}', ${member}`;
  const bind = (id: number, columns: string, scope: unknown) => sql`
    insert into role_bindings (org_id, id, member_id, predefined_role, condition, ${sql.raw(columns)}, ${named})
    values (${acme}, ${`01980f5e-7c1a-7b3e-9c55-3f0f6e1d2b0${id}`}, ${member}, 'viewer', '', ${scope}, ${fields("one")})`;
  for (const statement of [
    sql`insert into customers (id, ${named}) values (${customer}, ${fields("acme")})`,
    sql`insert into orgs (id, customer_id, state, revision, revision_time, ${named})
      values (${acme}, ${customer}, 'ACTIVE', ${member}, now(), ${fields("acme")})`,
    sql`insert into members (org_id, id, type, state, ${named})
      values (${acme}, ${member}, 'USER', 'ACTIVE', ${fields("alice")})`,
    sql`insert into projects (org_id, id, state, ${named}) values (${acme}, ${project}, 'ACTIVE', ${fields("web")})`,
    sql`insert into services (org_id, id, ${named}) values (${acme}, ${service}, ${fields("compute")})`,
    bind(1, "scope_type", sql`'PLATFORM'`),
    bind(2, "scope_type, customer_id", sql`'CUSTOMER', ${customer}`),
    bind(3, "scope_type", sql`'ORG'`),
    bind(4, "scope_type, project_id", sql`'PROJECT', ${project}`),
  ]) {
    await statement.execute(database.writes);
  }
  await run(database, addServiceBindings);
  const ofService = bind(5, "scope_type, service_id", sql`'SERVICE', ${service}`);
  await ofService.execute(database.writes);
  const { rows } = await sql<Record<string, string>>`
    select scope_type, scope_id from role_bindings order by id`.execute(database.reads);
  expect(rows.map(({ scope_type: type, scope_id: id }) => [type, id])).toEqual([
    ["PLATFORM", null],
    ["CUSTOMER", customer],
    ["ORG", acme],
    ["PROJECT", project],
    ["SERVICE", service],
  ]);
  for (const [columns, scope, constraint] of [
    ["scope_type", sql`'PLATFORM'`, "role_bindings_shared_name_key"],
    ["scope_type, customer_id", sql`'CUSTOMER', ${customer}`, "role_bindings_shared_name_key"],
    ["scope_type, service_id", sql`'SERVICE', ${service}`, "role_bindings_shared_name_key"],
    ["scope_type", sql`'ORG'`, "role_bindings_name_key"],
    ["scope_type, project_id", sql`'PROJECT', ${project}`, "role_bindings_name_key"],
    ["scope_type", sql`'SERVICE'`, "role_bindings_service_check"],
    ["scope_type, service_id", sql`'ORG', ${service}`, "role_bindings_service_check"],
  ] as const) {
    await expect(bind(6, columns, scope).execute(database.writes)).rejects.toMatchObject({ constraint });
  }
});

test("0036-accepted-identities keeps identities that sign their people in, without writing them, and lets those of older servers wait", async () => {
  const database = await openBefore("0036-accepted-identities");
  const named = sql.raw("name, display_name, description, labels, changed_revision");
  const fields = (name: string) => sql`${name}, '', '', '{}', ${member}`;
  const link = (id: number) => sql`
    insert into identities (org_id, member_id, id, provider_id, subject, ${named})
    values (${acme}, ${member}, ${`01980f5e-7c1a-7b3e-9c55-3f0f6e1d2b0${id}`}, ${service}, ${id}::text, ${fields(`i${id}`)})`;
  for (const statement of [
    sql`insert into customers (id, ${named}) values (${customer}, ${fields("acme")})`,
    sql`insert into orgs (id, customer_id, state, revision, revision_time, ${named})
      values (${acme}, ${customer}, 'ACTIVE', ${member}, now(), ${fields("acme")})`,
    sql`insert into members (org_id, id, type, state, ${named})
      values (${acme}, ${member}, 'USER', 'ACTIVE', ${fields("alice")})`,
    link(1),
  ]) {
    await statement.execute(database.writes);
  }
  const readWriter = () => sql<{ xmin: string }>`select xmin::text from identities`.execute(database.reads);
  const { rows: written } = await readWriter();
  await run(database, acceptIdentities);
  expect((await readWriter()).rows).toEqual(written);
  await link(2).execute(database.writes);
  const { rows } = await sql<{ accepted: boolean }>`
    select accept_time is not null as accepted from identities order by id`.execute(database.reads);
  expect(rows.map(({ accepted }) => accepted)).toEqual([true, false]);
});

test("0039-counted-kinds lets services count what their types count, and bounds none of it", async () => {
  const database = await openBefore("0039-counted-kinds");
  const named = sql.raw("name, display_name, description, labels, changed_revision");
  const fields = (name: string) => sql`${name}, '', '', '{}', ${member}`;
  const other = project;
  const counted = { kind: "cpu_cores", counted: true, minimum: 1 };
  const operations = [
    { verb: "create", quantities: [{ kind: "ram" }, counted], givenQuantities: [{ kind: "addresses", counted: true }] },
    { verb: "resize", quantities: [{ kind: "cpu_cores" }, { kind: "ram", counted: false }] },
    { verb: "delete" },
  ];
  const addType = (name: string, of: string | undefined, all: readonly object[]) => sql`
    insert into resource_types (org_id, service_id, id, collection, operations, ${named})
    values (${system}, ${of}, gen_random_uuid(), ${name}, ${JSON.stringify(all)}::jsonb, ${fields(name)})`;
  for (const statement of [
    sql`insert into customers (id, ${named}) values (${customer}, ${fields("acme")})`,
    sql`insert into orgs (id, customer_id, state, revision, revision_time, ${named})
      values (${system}, ${customer}, 'ACTIVE', ${member}, now(), ${fields("system")})`,
    sql`insert into services (org_id, id, ${named})
      values (${system}, ${service}, ${fields("compute")}), (${system}, ${other}, ${fields("dns")})`,
    addType("instances", service, operations),
    addType("disks", service, [
      { verb: "create", quantities: [{ kind: "storage", counted: true }] },
      { verb: "delete" },
    ]),
    addType("zones", other, [{ verb: "create", quantities: [{ kind: "ram" }] }, { verb: "delete" }]),
    addType("empty", other, []),
  ]) {
    await statement.execute(database.writes);
  }
  await run(database, boundWhatCounts);
  const services = await database.reads
    .selectFrom("services")
    .select(["name", "counted_kinds"])
    .orderBy("name")
    .execute();
  expect(services).toEqual([
    { name: "compute", counted_kinds: ["addresses", "cpu_cores", "storage"] },
    { name: "dns", counted_kinds: [] },
  ]);
  const types = await database.reads.selectFrom("resource_types").select(["name", "operations"]).execute();
  const surplus = 1e24;
  expect(Object.fromEntries(types.map(({ name, operations: of }) => [name, of]))).toEqual({
    instances: [
      {
        verb: "create",
        quantities: [{ kind: "ram" }, { ...counted, surplus }],
        givenQuantities: [{ kind: "addresses", counted: true, surplus }],
      },
      {
        verb: "resize",
        quantities: [
          { kind: "cpu_cores", surplus },
          { kind: "ram", counted: false },
        ],
      },
      { verb: "delete" },
    ],
    disks: [{ verb: "create", quantities: [{ kind: "storage", counted: true, surplus }] }, { verb: "delete" }],
    zones: [{ verb: "create", quantities: [{ kind: "ram" }] }, { verb: "delete" }],
    empty: [],
  });
});

test("0052-log-indexes and 0053-partition-indexes index a log with entries, one partition after the other", async () => {
  const database = await openBefore("0050-chained-entries");
  await createPartitions(database.writes);
  await sql`
    insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, resource_path, after)
    values (gen_random_uuid(), ${acme}, gen_random_uuid(), 0, now(), 3, 'test', 'Org', ${acme}, '', '{}')`.execute(
    database.writes,
  );
  const { applied } = await migrate(database.writes);
  expect(applied).toContain("0053-partition-indexes");
  const names = logIndexes.map(({ name }) => name);
  const { rows } = await sql<{ name: string; valid: boolean; attached: number; partitions: number }>`
    select relname as name, indisvalid as valid,
      (select count(*)::int from pg_inherits where inhparent = indexrelid) as attached,
      (select count(*)::int from pg_inherits where inhparent = indrelid) as partitions
    from pg_index join pg_class on pg_class.oid = indexrelid where relname = any(${names}) order by relname`.execute(
    database.reads,
  );
  expect(rows.map(({ name }) => name)).toEqual(names.toSorted());
  for (const { valid, attached, partitions } of rows) {
    expect(partitions).toBeGreaterThan(24);
    expect({ valid, attached }).toEqual({ valid: true, attached: partitions });
  }
  const { rows: entries } = await sql<{
    hash: unknown;
    container_id: unknown;
  }>`select hash, container_id from changes`.execute(database.reads);
  expect(entries).toEqual([{ hash: null, container_id: null }]);
});
