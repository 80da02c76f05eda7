// Each row of an org has the customer of that org: those from before it was kept, those that servers of earlier versions insert without
// it, and those of this version.
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createPartitions } from "../../src/database/partitions.ts";
import { nowhere } from "../support/nowhere.ts";
import { findCustomerDrift, listOrgTables } from "../support/find-customer-drift.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { migrateToBefore } from "./migrate-to-before.ts";

const idOf = (number: number): string => `01980f5e-7c1a-7b3e-9c55-${String(number).padStart(12, "0")}`;
const [acmeCustomer, otherCustomer, acme, other, alice, web, gone] = [1, 2, 3, 4, 5, 6, 7].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

const named = "name, display_name, description, labels, changed_revision";
const fields = (name: string): string => `'${name}', '', '', '{}', '${idOf(0)}'`;

const linkOf = (org: string, number: number): string => idOf((org === acme ? 300 : 400) + number);

/** Inserts rows of two orgs as servers of earlier versions do. */
async function insertRows(database: Database, number: number): Promise<void> {
  const id = idOf(100 + number);
  const name = `row-${number}`;
  const ofOrg = (org: string): string[] => [
    `insert into groups (org_id, id, ${named}) values ('${org}', '${id}', ${fields(name)})`,
    `insert into role_bindings (org_id, id, scope_type, customer_id, member_id, predefined_role, condition, ${named})
     values ('${org}', '${id}', 'CUSTOMER', '${otherCustomer}', '${alice}', 'viewer', '', ${fields(`${name}-${org}`)})`,
    `insert into quotas (org_id, scope_id, kind, used, reserved) values ('${org}', '${id}', 'cpu_cores', 1, 0)`,
    `insert into resource_labels (org_id, resource_type, key, value, parent_id, resource_id)
     values ('${org}', 'Group', 'env', 'prod', '${org}', '${id}')`,
    `insert into changes (org_id, revision, position, time, format, method, resource_type, resource_id, resource_path, after)
     values ('${org}', '${id}', 0, now(), 3, 'method', 'Group', '${id}', 'path', '{}')`,
    `insert into sign_in_links (id, hash, org_id, member_id, expire_time)
     values ('${linkOf(org, number)}', '\\x00', '${org}', '${alice}', now())`,
  ];
  const ofNoOrg = [
    `insert into quotas (org_id, scope_id, kind, used, reserved) values ('${nowhere}', '${otherCustomer}', 'kind_${number}', 1, 0)`,
    `insert into resource_labels (org_id, resource_type, key, value, parent_id, resource_id)
     values ('${nowhere}', 'Customer', 'row', '${number}', '${nowhere}', '${otherCustomer}'),
       ('${nowhere}', 'Org', 'row', '${number}', '${nowhere}', '${other}')`,
  ];
  for (const statement of [...ofOrg(acme), ...ofOrg(other), ...ofNoOrg]) {
    await sql.raw(statement).execute(database.writes);
  }
}

/** @param customer the column of it, where the schema needs it. */
async function insertOrgs(database: Database, customer?: "customer_id"): Promise<void> {
  const [column, ofAcme, ofOther] =
    customer === undefined ? ["", "", ""] : ["customer_id, ", `'${acmeCustomer}', `, `'${otherCustomer}', `];
  const kinds = ["cpu_cores", "kind_1", "kind_2"];
  for (const statement of [
    `insert into customers (id, ${named}) values ('${acmeCustomer}', ${fields("acme")}), ('${otherCustomer}', ${fields("other")})`,
    `insert into orgs (id, customer_id, state, revision, revision_time, ${named})
     values ('${acme}', '${acmeCustomer}', 'ACTIVE', '${idOf(0)}', now(), ${fields("acme")}),
       ('${other}', '${otherCustomer}', 'ACTIVE', '${idOf(0)}', now(), ${fields("other")})`,
    ...[`${ofAcme}'${acme}'`, `${ofOther}'${other}'`].map(
      (org) =>
        `insert into members (${column}org_id, id, type, state, ${named})
         values (${org}, '${alice}', 'USER', 'ACTIVE', ${fields("alice")})`,
    ),
    `insert into projects (${column}org_id, id, state, ${named})
     values (${ofAcme}'${acme}', '${web}', 'ACTIVE', ${fields("web")})`,
    ...kinds.map(
      (kind, index) =>
        `insert into quantity_kinds (org_id, id, unit, step, ${named})
         values ('${acme}', '${idOf(50 + index)}', '', 1, ${fields(kind)})`,
    ),
  ]) {
    await sql.raw(statement).execute(database.writes);
  }
}

test("each table with rows of orgs has a customer in each row", async () => {
  const { reads } = await openTestDatabase();
  const tables = await listOrgTables(reads);
  expect(tables).toContain("members");
  const { rows } = await sql<{ table: string }>`
    select relname as table from pg_attribute join pg_class on pg_class.oid = attrelid
    where attnotnull and relname = any (${tables}::text[])
      and attname = case relname when 'role_bindings' then 'org_customer_id' else 'customer_id' end
    order by 1`.execute(reads);
  expect(rows.map(({ table }) => table)).toEqual(tables);
});

test("the migration gives rows of orgs, customers and labels their customer, and removes loose rows of orgs that are gone", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, "0043");
  await createPartitions(database.writes);
  await insertOrgs(database);
  await insertRows(database, 1);
  const loose = `insert into sign_in_links (id, hash, org_id, member_id, expire_time) values ('${idOf(9)}', '\\x00', '${gone}', '${alice}', now())`;
  await sql.raw(loose).execute(database.writes);
  const { applied } = await migrate(database.writes);
  expect(applied).toContain("0047-require-customer-of-members");
  expect(await findCustomerDrift(database.reads)).toEqual([]);
  const { rows } = await sql`
    select (select count(*)::int from sign_in_links) as links, (select count(*)::int from quotas) as quotas,
      (select count(*)::int from resource_labels) as labels, (select count(*)::int from changes) as changes`.execute(
    database.reads,
  );
  expect(rows).toEqual([{ links: 2, quotas: 3, labels: 4, changes: 2 }]);
});

test("rows that a server of an earlier version inserts have their customer", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, "0049");
  await createPartitions(database.writes);
  await insertOrgs(database);
  await insertRows(database, 1);
  await insertRows(database, 2);
  expect(await findCustomerDrift(database.reads)).toEqual([]);
});

test("the database refuses a row that does not have the customer of its org, or of what it refers to", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrate(database.writes);
  await insertOrgs(database, "customer_id");
  const inGroup = (customer: string): Promise<unknown> =>
    sql
      .raw(
        `insert into groups (customer_id, org_id, id, ${named}) values ('${customer}', '${acme}', '${idOf(60)}', ${fields("team")})`,
      )
      .execute(database.writes);
  await expect(inGroup(otherCustomer)).rejects.toMatchObject({ constraint: "groups_customer_id_org_id_fkey" });
  await inGroup(acmeCustomer);
  const membership = (customer: string): Promise<unknown> =>
    sql
      .raw(
        `insert into group_members (customer_id, org_id, group_id, member_id, changed_revision)
         values ('${customer}', '${acme}', '${idOf(60)}', '${alice}', '${idOf(0)}')`,
      )
      .execute(database.writes);
  await expect(membership(otherCustomer)).rejects.toMatchObject({
    constraint: "group_members_customer_id_org_id_group_id_fkey",
  });
  await membership(acmeCustomer);
});

test("each foreign key between tables with rows of orgs begins with the customer of both", async () => {
  const { reads } = await openTestDatabase();
  const tables = await listOrgTables(reads);
  const { rows } = await sql<{ name: string; definition: string }>`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace and conrelid::regclass::text = any (${tables}::text[])
      and confrelid::regclass::text = any (${[...tables, "orgs"]}::text[])
    order by 1`.execute(reads);
  expect(rows.length).toBeGreaterThan(25);
  const leading = /^FOREIGN KEY \((?:org_)?customer_id, org_id(?:, \w+)?\) REFERENCES \w+\(customer_id, (?:org_)?id/;
  expect(rows.filter(({ definition }) => !leading.test(definition))).toEqual([]);
});
