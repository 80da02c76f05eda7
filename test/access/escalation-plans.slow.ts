// Checks that the escalation guard, which holds the lock of the org, reads only the relevant bindings of a large org.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import type { OrgTransaction } from "../../src/changes/write-in-org.ts";
import { findGrantedRoles, heldBy } from "../../src/access/escalation/store.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import { insertManyRows, large, largest } from "../standard-methods/many-rows.ts";
import { type PlanReader, createPlanReader } from "../standard-methods/read-plan.ts";
import { fillWithoutIndexes } from "../standard-methods/without-indexes.ts";
import { vacuumAll } from "../support/maintain.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";

/** What bindings of members and groups refer to. */
const bound: readonly ResourceType[] = [
  "Customer",
  "Org",
  "Role",
  "Group",
  "Member",
  "GroupMember",
  "Subgroup",
  "RoleBinding",
];
const bindings = 3;
const [org, group, role] = [largest("Org"), largest("Group"), largest("Role")];

let created: TestDatabase;
let plans: PlanReader;
beforeAll(async () => {
  created = await createTestDatabase();
  await fillWithoutIndexes(created.url, async (db) => {
    await insertManyRows(db, bound.map(registry.definitionOf));
    // The group has many members and a few bindings. Many members are bound to one role.
    await sql`
      insert into role_bindings (id, org_customer_id, org_id, scope_type, group_id, role_id, condition, name, display_name, description,
        labels, changed_revision)
      select gen_random_uuid(), (select customer_id from orgs where id = ${org}), ${org}, 'ORG', ${group}, ${role}, '', 'of-group-' || n, '', '', '{}', gen_random_uuid()
      from generate_series(1, ${bindings}::int) as n`.execute(db);
    await sql`update role_bindings set role_id = ${role} where org_id = ${org} and member_id is not null`.execute(db);
  });
  await vacuumAll(created.url);
  plans = createPlanReader(created.url);
});
afterAll(async () => {
  await plans.close();
  await created.drop();
});

const read = <Row>(run: (transaction: OrgTransaction) => Promise<Row[]>) =>
  plans.read((db) => run({ db, org: { id: org, lockTime: new Date() } } as unknown as OrgTransaction));

test("the roles of a group are read from its bindings, not from its members", async () => {
  const { plan } = await read((transaction) => heldBy(transaction, { groups: [group] }));
  expect(plan.scannedTables, plan.text).toEqual([]);
  expect(plan.rowsRead, plan.text).toBeLessThan(10 * bindings);
});

test("the roles of a member are read from its bindings and those of its groups, not from all of the org", async () => {
  const { rows, plan } = await read((transaction) => heldBy(transaction, { members: [largest("Member")] }));
  expect(rows.length).toBeGreaterThan(0);
  expect(plan.scannedTables, plan.text).toEqual([]);
  expect(plan.rowsRead, plan.text).toBeLessThan(20 * bindings);
});

test("one binding is read to find out whether a role is granted", async () => {
  const { rows, plan } = await read(async (transaction) => [
    ...(await findGrantedRoles(transaction, [role], largest("Member"))),
  ]);
  expect(rows).toEqual([role]);
  expect(plan.scannedTables, plan.text).toEqual([]);
  expect(plan.rowsRead, plan.text).toBeLessThan(large / 100);
});
