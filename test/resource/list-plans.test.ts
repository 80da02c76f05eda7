// How much a page of each list reads, however much there is: what its plans say. A resource that is listed, or a field that
// it is ordered by, fails here when no index serves it.
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import type { Kysely } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKeyFields } from "../../src/api-keys/fields.ts";
import { readApiKeysPage } from "../../src/api-keys/store.ts";
import { readConfig } from "../../src/config.ts";
import { customerFields } from "../../src/customers/fields.ts";
import { readCustomersPage } from "../../src/customers/store.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import type { Column, FilterFields } from "../../src/filters/filter-fields.ts";
import { cursorOf, withUniqueKey } from "../../src/filters/keyset.ts";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { membershipFields, subgroupFields } from "../../src/group-members/fields.ts";
import { readMembershipsPage } from "../../src/group-members/membership-store.ts";
import { readSubgroupsPage } from "../../src/group-members/subgroup-store.ts";
import { groupFields } from "../../src/groups/fields.ts";
import { readGroupsPage } from "../../src/groups/store.ts";
import { memberFields } from "../../src/members/fields.ts";
import { readMembersPage } from "../../src/members/store.ts";
import { orgFields } from "../../src/orgs/fields.ts";
import { readOrgsPage } from "../../src/orgs/store.ts";
import { projectFields } from "../../src/projects/fields.ts";
import { readProjectsPage } from "../../src/projects/store.ts";
import { roleBindingFields } from "../../src/role-bindings/fields.ts";
import { scopes } from "../../src/role-bindings/scopes.ts";
import { readRoleBindingsPage } from "../../src/role-bindings/store.ts";
import { roleFields } from "../../src/roles/fields.ts";
import { readRolesPage } from "../../src/roles/store.ts";
import type { Reference } from "../../src/paths/resource-path.ts";
import type { Selection } from "../../src/resource/resource.ts";
import { services } from "../../src/rpc/services.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";
import { insertManyRows, large, largest } from "./many-rows.ts";
import { type PlanReader, createPlanReader } from "./read-plan.ts";

const pageSize = 50;
/** A row of a page is joined with those that its path goes through and found by up to two labels; merging adds a few. */
const rowsReadForOne = 8;

type ReadPage = (db: Kysely<Schema>, selection: Selection) => Promise<object[]>;

interface Listed {
  readonly fields: FilterFields;
  readonly uniqueKey: readonly Column[];
  readonly readPage: ReadPage;
  readonly parent: readonly Reference[];
  /** What bounds the rows in a parent, where all of them may be read: there are few. */
  readonly atMost?: number | undefined;
}

const byId = (value: string): Reference => ({ by: "id", value });
const all: Reference = { by: "any" };
const inOrg = [byId(largest.org)];
const inGroup = [byId(largest.org), byId(largest.group)];
const { limits } = readConfig({});

const lists: Readonly<Record<string, Listed>> = {
  ListCustomers: { fields: customerFields, uniqueKey: ["customers.id"], readPage: readCustomersPage, parent: [] },
  ListOrgs: { fields: orgFields, uniqueKey: ["orgs.id"], readPage: readOrgsPage, parent: [] },
  ListProjects: {
    fields: projectFields,
    uniqueKey: ["projects.org_id", "projects.id"],
    readPage: readProjectsPage,
    parent: inOrg,
  },
  ListMembers: {
    fields: memberFields,
    uniqueKey: ["members.org_id", "members.id"],
    readPage: readMembersPage,
    parent: inOrg,
  },
  ListApiKeys: {
    fields: apiKeyFields,
    uniqueKey: ["api_keys.org_id", "api_keys.member_id", "api_keys.id"],
    readPage: readApiKeysPage,
    parent: [byId(largest.org), byId(largest.member)],
    atMost: limits.ApiKey,
  },
  ListRoles: {
    fields: roleFields,
    uniqueKey: ["roles.org_id", "roles.id"],
    readPage: readRolesPage,
    parent: inOrg,
  },
  ListRoleBindings: {
    fields: roleBindingFields(scopes.org),
    uniqueKey: scopes.org.uniqueKey,
    readPage: (db, selection) => readRoleBindingsPage(db, scopes.org, selection),
    parent: inOrg,
  },
  ListGroups: {
    fields: groupFields,
    uniqueKey: ["groups.org_id", "groups.id"],
    readPage: readGroupsPage,
    parent: inOrg,
  },
  ListGroupMembers: {
    fields: membershipFields,
    uniqueKey: ["group_members.org_id", "group_members.group_id", "group_members.member_id"],
    readPage: readMembershipsPage,
    parent: inGroup,
  },
  ListSubgroups: {
    fields: subgroupFields,
    uniqueKey: ["subgroups.org_id", "subgroups.group_id", "subgroups.subgroup_id"],
    readPage: readSubgroupsPage,
    parent: inGroup,
  },
};

let created: TestDatabase;
let database: Database;
let plans: PlanReader;

beforeAll(async () => {
  created = await createTestDatabase();
  database = openDatabase({
    connection: { connectionString: created.url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  await insertManyRows(database);
  plans = createPlanReader(created.url);
}, 120_000);

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

interface Query {
  readonly orderBy?: string;
  readonly filter?: string;
  readonly showDeleted?: boolean;
}

/** Where in a list a page begins: after that share of its rows. */
const places = { first: 0, middle: 0.5, last: 1 } as const;

/** Reads pages of a list, and holds each to what it may read. */
async function expectCheapPages(
  list: Listed,
  { orderBy = "", filter = "", showDeleted = false }: Query,
): Promise<void> {
  const order = withUniqueKey(parseOrderBy(orderBy, list.fields), list.uniqueKey);
  const condition = toSql(readFilter(filter, list.fields));
  const select = { parent: list.parent, showDeleted, visible: undefined, condition, order };
  const whole = await list.readPage(database.reads, { ...select, after: undefined, limit: 3 * large });
  for (const [place, share] of Object.entries(places)) {
    const begin = Math.max(0, Math.floor((whole.length - 1) * share) - (share === 1 ? pageSize / 2 : 0));
    const before = share === 0 ? undefined : whole[begin];
    const after = before && cursorOf(order, before);
    const { rows, plan } = await plans.read((db) => list.readPage(db, { ...select, after, limit: pageSize + 1 }));
    const start = before === undefined ? 0 : begin + 1;
    const what = `the ${place} page of ${filter} by ${orderBy}: ${plan.text}`;
    expect(rows, what).toEqual(whole.slice(start, start + pageSize + 1));
    expect(plan.scannedTables, what).toEqual([]);
    expect(plan.rowsRead, what).toBeLessThanOrEqual(Math.max(list.atMost ?? 0, pageSize + 1) * rowsReadForOne);
  }
}

test("all that is listed is listed here", () => {
  // Who may what is listed from memory.
  const ofResources = services.filter((service) => service !== AccessService);
  const listMethods = ofResources.flatMap(({ methods }) => methods.filter(({ name }) => name.startsWith("List")));
  expect(listMethods.map(({ name }) => name).toSorted()).toEqual(
    Object.keys(lists)

      .toSorted(),
  );
});

describe.each(Object.entries(lists))("a page of %s reads what is on it and little more", (_name, list) => {
  test("by default", () => expectCheapPages(list, {}));

  test.runIf("delete_time" in list.fields)("with deleted ones", async () => {
    await expectCheapPages(list, { showDeleted: true });
    if ("labels" in list.fields) await expectCheapPages(list, { showDeleted: true, filter: 'labels.half = "yes"' });
  });

  const orderable = Object.keys(list.fields).filter((name) => {
    const field = list.fields[name];
    return field !== undefined && "order" in field;
  });
  test.each(orderable)("ordered by %s, up and down", async (name) => {
    await expectCheapPages(list, { orderBy: name });
    await expectCheapPages(list, { orderBy: `${name} desc` });
    if ("delete_time" in list.fields) await expectCheapPages(list, { orderBy: name, showDeleted: true });
  });

  test
    .runIf("labels" in list.fields)
    .each([
      'labels.half = "yes"',
      'labels.most = "yes"',
      'labels.most = "no"',
      'labels.few = "yes"',
      'labels.few = "no"',
      'labels.half = "yes" AND labels.few = "yes"',
      'labels.half = "yes" AND labels.most = "yes" AND display_name = "d*"',
      "labels:most",
      "labels:few",
      "labels:none",
    ])("filtered by %s", async (filter) => {
    await expectCheapPages(list, { filter });
    await expectCheapPages(list, { filter, orderBy: "id desc" });
  });
});

test("the members of an org of which most were deleted before are read without these", () => {
  const list = lists["ListMembers"];
  if (list === undefined) throw new Error("there is no ListMembers");
  return expectCheapPages({ ...list, parent: [byId(largest.otherOrg)] }, {});
});

describe("a page of a list that goes through all parents reads what is on it and little more", () => {
  test.each([
    ["members of all orgs", "ListMembers", [all]],
    ["projects of all orgs", "ListProjects", [all]],
    ["groups of all orgs", "ListGroups", [all]],
    ["members of all groups", "ListGroupMembers", [byId(largest.org), all]],
    ["subgroups of all groups", "ListSubgroups", [byId(largest.org), all]],
    ["API keys of all members", "ListApiKeys", [byId(largest.org), all]],
  ] as const)("%s", async (_what, name, parent) => {
    const list = lists[name];
    if (list === undefined) throw new Error(`there is no ${name}`);
    await expectCheapPages({ ...list, atMost: undefined, parent }, {});
  });
});
