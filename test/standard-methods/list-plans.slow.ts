// Checks with the plans of PostgreSQL how many rows a page of each list reads from large tables. A resource that is listed,
// or a field that it can be ordered by, fails here if no index serves it. CI runs it on PostgreSQL 15, too: version 18 can make do with
// fewer indexes, because it skips through them.
import type { DescService } from "@bufbuild/protobuf";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { AccessEventsService } from "../../gen/iam/v1alpha/access_event_pb.ts";
import { FindingsService } from "../../gen/iam/v1alpha/finding_pb.ts";
import { ChangesService } from "../../gen/iam/v1alpha/change_pb.ts";
import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Visibility, unlimited } from "../../src/access/evaluation/visibility.ts";
import { webhookDefinition } from "../../src/events/webhooks/definition.ts";
import { webhookPlaces } from "../../src/events/webhooks/places.ts";
import { required } from "../../src/errors/required.ts";
import { registry } from "../../src/resource-registry.ts";
import { readConfig } from "../../src/config.ts";
import { type Database, openDatabase, settingsByKey } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import { cursorOf, withUniqueKey } from "../../src/filters/keyset.ts";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { methodNouns } from "../../src/paths/patterns.ts";
import type { Reference } from "../../src/paths/parse-path.ts";
import type {
  ResourceDefinition,
  ResourceRow,
  ResourceTable,
  TypedDefinition,
} from "../../src/standard-methods/definition/definition.ts";
import { listFieldsOf } from "../../src/standard-methods/read/list-fields.ts";
import { readByKeys, uniqueKeyOf } from "../../src/standard-methods/read/row-reader.ts";
import { keyOf } from "../../src/standard-methods/rows/row-key.ts";
import { services } from "../../src/rpc/services.ts";
import { rebuildDerivedRows } from "../support/derived-rows.ts";
import { vacuumAll } from "../support/maintain.ts";
import { type TestDatabase, createTestDatabase } from "../support/test-database.ts";
import { idOfNumber, insertManyRows, large, largest, orgOfDeleted } from "./many-rows.ts";
import { type ListParts, type PlanReader, createPlanReader } from "./read-plan.ts";
import { readRowsPage } from "./read-rows-page.ts";
import { fillWithoutIndexes } from "./without-indexes.ts";

const pageSize = 50;
/** A row of a page is joined with the rows of its path, and found by up to two labels; merging reads a few more. */
const rowsReadForOne = 9;

interface Listed {
  readonly definition: ResourceDefinition;
  readonly parent: readonly Reference[];
}

const byId = (value: string): Reference => ({ by: "id", value });
const all: Reference = { by: "any" };
const { limits } = readConfig({});

/** Every list, in its largest parent. A new resource is included by its definition, and so are its rows. */
const lists: Readonly<Record<string, Listed>> = Object.fromEntries(
  registry.definitions.map((definition) => {
    const parent = definition.places[0].parents.map(({ type }) => byId(largest(type)));
    return [`List${methodNouns(definition.type).many}`, { definition, parent }];
  }),
);

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
  await fillWithoutIndexes(created.url, async (db) => {
    await insertManyRows(db, registry.definitions);
    for (const table of ["orgs", "projects"]) await suspendSome(db, table);
    await db.transaction().execute((transaction) => rebuildDerivedRows(transaction, registry));
  });
  await vacuumAll(created.url);
  plans = createPlanReader(created.url);
});

afterAll(async () => {
  await plans.close();
  await database.close();
  await created.drop();
});

interface Query {
  readonly orderBy?: string;
  readonly filter?: string;
  readonly showDeleted?: boolean;
  readonly visible?: Visibility;
}

interface LabelledRow {
  readonly labels: Readonly<Record<string, string>>;
  readonly display_name: string;
}

/** Filters by labels, and what they find. */
const labelFilters: Readonly<Record<string, (row: LabelledRow) => boolean>> = {
  'labels.half = "yes"': ({ labels }) => labels["half"] === "yes",
  'labels.most = "yes"': ({ labels }) => labels["most"] === "yes",
  'labels.most = "no"': ({ labels }) => labels["most"] === "no",
  'labels.few = "yes"': ({ labels }) => labels["few"] === "yes",
  'labels.few = "no"': ({ labels }) => labels["few"] === "no",
  'labels.half = "yes" AND labels.few = "yes"': ({ labels }) => labels["half"] === "yes" && labels["few"] === "yes",
  'labels.half = "yes" AND labels.most = "yes" AND display_name = "d*"': ({ labels, display_name: text }) =>
    labels["half"] === "yes" && labels["most"] === "yes" && text.startsWith("d"),
  "labels:most": ({ labels }) => "most" in labels,
  "labels:few": ({ labels }) => "few" in labels,
  "labels:none": ({ labels }) => "none" in labels,
};

/** One in a hundred, but not the first, which is the largest. */
function suspendSome(db: Kysely<Schema>, table: string): Promise<unknown> {
  const isSome = sql`right(id::text, 2) = '0a'`;
  return sql`update ${sql.table(table)} set state = 'SUSPENDED' where ${isSome}`.execute(db);
}

/** Returns what reads the rows of a list, by its order. */
function readerOf({ definition, parent }: Listed, { filter = "", showDeleted = false, visible = unlimited }: Query) {
  const [place] = definition.places;
  const fields = listFieldsOf(definition, place);
  const condition = toSql(readFilter(filter, fields));
  const typed = definition as TypedDefinition<ResourceTable, ResourceRow>;
  return (by: string) => (db: Kysely<Schema>, after: readonly string[] | undefined, limit: number) => {
    const select = { parent, showDeleted, visible, condition, order: orderOf(definition, by) };
    return readRowsPage(db, typed, place, { ...select, after, limit });
  };
}

function orderOf(definition: ResourceDefinition, by: string) {
  const [place] = definition.places;
  return withUniqueKey(parseOrderBy(by, listFieldsOf(definition, place)), uniqueKeyOf(definition, place));
}

function numberRows(rows: readonly ResourceRow[]): ListParts<ResourceRow> {
  return { count: rows.length, rows: new Map(rows.map((row, index) => [index + 1, row])) };
}

/** The positions in a list at which pages begin, as a number of rows before them. The last page is only half full. */
const places: Readonly<Record<string, (count: number) => number>> = {
  first: () => 0,
  middle: (count) => 1 + Math.floor(Math.max(0, count - 1) / 2),
  last: (count) => 1 + Math.max(0, Math.max(0, count - 1) - pageSize / 2),
};

/**
 * Reads pages of a list, and checks how many rows each of them reads.
 *
 * @param reverse the reverse order, in which the same is checked.
 * @param given the whole list; by default, the database tells.
 */
async function expectCheapPages(
  list: Listed,
  query: Query,
  reverse?: string,
  given?: ListParts<ResourceRow>,
): Promise<void> {
  const { definition, parent } = list;
  const { orderBy = "", filter = "" } = query;
  const readerBy = readerOf(list, query);
  // If a parent contains few, all of them may be read.
  const isOne = parent.every(({ by }) => by === "id");
  const atMost = isOne && definition.storage.labels === "unindexed" ? (limits[definition.type] ?? 0) : 0;
  const readAll = (db: Kysely<Schema>) => readerBy(orderBy)(db, undefined, 3 * large);
  const { count, rows: whole } = given ?? (await plans.readParts(readAll, pageSize + 2));

  // Rows are numbered from 1 in the order that the whole list is read in.
  const forwards = { by: orderBy, numberOf: (position: number) => position };
  const backwards = { by: reverse ?? "", numberOf: (position: number) => count + 1 - position };
  const pages = (reverse === undefined ? [forwards] : [forwards, backwards]).flatMap(({ by, numberOf }) =>
    Object.entries(places).map(([at, beginOf]) => {
      const begin = beginOf(count);
      const numbers = Array.from({ length: pageSize + 1 }, (_, index) => numberOf(begin + 1 + index));
      return { by, at, before: numberOf(begin), numbers };
    }),
  );
  // All of them that the list has must have been read.
  const needed = pages.flatMap(({ before, numbers }) => [before, ...numbers]);
  expect(needed.filter((number) => number >= 1 && number <= count && !whole.has(number))).toEqual([]);
  for (const { by, at, before, numbers } of pages) {
    const rowBefore = whole.get(before);
    const after = rowBefore && cursorOf(orderOf(definition, by), rowBefore);
    const { rows, plan } = await plans.read((db) => readerBy(by)(db, after, pageSize + 1));
    const what = `the ${at} page of ${filter} by ${by}: ${plan.text}`;
    expect(rows, what).toEqual(numbers.map((number) => whole.get(number)).filter((row) => row !== undefined));
    expect(plan.scannedTables, what).toEqual([]);
    expect(plan.rowsRead, what).toBeLessThanOrEqual(Math.max(atMost, pageSize + 1) * rowsReadForOne);
  }
}

test("the table has every list method", () => {
  // Lists about access are read from memory; test/events/change-plans.slow.ts has those of the logs, test/iam/findings those of findings.
  const others: ReadonlySet<DescService> = new Set<DescService>([
    AccessService,
    AccessEventsService,
    ChangesService,
    FindingsService,
  ]);
  const ofResources = services.filter((service) => !others.has(service));
  const listMethods = ofResources.flatMap(({ methods }) => methods.filter(({ name }) => name.startsWith("List")));
  // A webhook has 1,000 deliveries at most, which are read by their key.
  const names = listMethods.map(({ name }) => name).filter((name) => name !== "ListWebhookDeliveries");
  expect(names.toSorted()).toEqual(Object.keys(lists).toSorted());
});

/** A cloud has few resources without a parent and without an index; their lists may read all of them. */
const isFew = ({
  definition: {
    storage,
    places: [place],
  },
}: Listed): boolean => storage.labels === "unindexed" && place.parents.length === 0;

describe.each(Object.entries(lists).filter(([, list]) => !isFew(list)))(
  "a page of %s reads what is on it and little more",
  (_name, list) => {
    const fields = listFieldsOf(list.definition, list.definition.places[0]);
    test("in the default order", () => expectCheapPages(list, {}));

    test.runIf("delete_time" in fields)("with deleted ones", async () => {
      await expectCheapPages(list, { showDeleted: true });
      if ("labels" in fields) await expectCheapPages(list, { showDeleted: true, filter: 'labels.half = "yes"' });
    });

    const orderable = Object.keys(fields).filter((name) => {
      const field = fields[name];
      return field !== undefined && "order" in field;
    });
    test.each(orderable)("ordered by %s, ascending and descending", async (name) => {
      await expectCheapPages(list, { orderBy: name }, `${name} desc`);
      if ("delete_time" in fields) await expectCheapPages(list, { orderBy: name, showDeleted: true });
    });

    // What a search reads.
    const named = orderable.filter((name) => name === "name" || name === "display_name");
    test.each(named)("of whose %s begins with a text", async (name) => {
      await expectCheapPages(list, { orderBy: name, filter: `${name} >= "d" AND ${name} < "d\u{10ffff}"` });
    });

    test.runIf("display_name" in fields)("with a word that all have", () => expectCheapPages(list, { filter: '"d"' }));

    describe.runIf("labels" in fields)("filtered by", () => {
      let unfiltered: (ResourceRow & LabelledRow)[];
      beforeAll(async () => {
        const rows = await plans.readAll((db) => readerOf(list, {})("")(db, undefined, 3 * large));
        unfiltered = rows as typeof unfiltered;
      });
      test.each(Object.entries(labelFilters))("%s", (filter, isFound) =>
        expectCheapPages(list, { filter }, "id desc", numberRows(unfiltered.filter(isFound))),
      );
    });
  },
);

test.each([
  ["one customer", byId(largest("Customer"))],
  ["all customers", all],
])("the webhooks of %s are read without those of orgs", (_which, parent) =>
  expectCheapPages({ definition: { ...webhookDefinition, places: [webhookPlaces.customer] }, parent: [parent] }, {}),
);

test("the members of an org are read without the deleted ones, which are the majority", () => {
  const list = lists["ListMembers"];
  if (list === undefined) throw new Error("there is no ListMembers");
  return expectCheapPages({ ...list, parent: [byId(orgOfDeleted)] }, {});
});

test.each([
  ["ListRoleBindings", "subject_path", "members", "Member"],
  ["ListRoleBindings", "role_path", "roles", "Role"],
  ["ListGroupMembers", "member_path", "members", "Member"],
  ["ListSubgroups", "group_path", "groups", "Group"],
] as const)("what %s finds of an org by %s is read by an index", async (name, field, collection, type) => {
  const { definition, parent } = required(lists[name]);
  const [org, ...others] = parent;
  const list = { definition, parent: [required(org), ...others.map(() => all)] };
  // Not deleted, and in the large org.
  const filter = `${field} = "/orgs/@${largest("Org")}/${collection}/@${idOfNumber(type, type === "Group" ? large - 500 : 50)}"`;
  const found = await plans.readAll((db) => readerOf(list, { filter })("")(db, undefined, pageSize));
  expect(found.length, filter).toBeGreaterThan(0);
  await expectCheapPages(list, { filter });
});

test.each(registry.definitions.map((definition) => [definition.type, definition] as const))(
  "several rows of a %s are found by their keys, one after the other",
  async (_type, definition) => {
    const { table, key } = definition.storage;
    const columns = sql.join(key.map((column) => sql.ref(column)));
    const { rows: keys } =
      await sql<object>`select ${columns} from ${sql.table(table)} order by ${columns} limit 20`.execute(
        database.writes,
      );
    const typed = definition as TypedDefinition<ResourceTable, ResourceRow>;
    const settings = [...settingsByKey, "plan_cache_mode=force_generic_plan"];
    const { rows, plan } = await plans.read((db) => readByKeys(db, typed, keys), settings);
    expect(rows.map((row) => row && keyOf(definition, row))).toEqual(keys.map((row) => keyOf(definition, row)));
    expect(plan.rowsRead, plan.text).toBeLessThanOrEqual(keys.length * rowsReadForOne);
  },
);

describe("a page of a list across all parents reads little more than its own rows", () => {
  const deep = Object.entries(lists).flatMap(([name, list]) => {
    const [org, ...others] = list.parent;
    if (org === undefined) return [];
    return [{ name, list: { ...list, parent: others.length === 0 ? [all] : [org, ...others.map(() => all)] } }];
  });
  test.each(deep)("$name", async ({ list }) => {
    await expectCheapPages(list, {});
  });

  const kept = deep.filter(({ list }) => "delete_time" in listFieldsOf(list.definition, list.definition.places[0]));
  test.each(kept)("$name, with deleted ones", async ({ list }) => {
    await expectCheapPages(list, { showDeleted: true });
  });

  const none = { orgIds: [], customerIds: [] };
  const inOrgs = deep.filter(({ list }) => list.definition.places[0].pattern[0] === "orgs");
  test.each(inOrgs)("$name, without what is suspended", async ({ list }) => {
    await expectCheapPages(list, { visible: { orgs: "all", suspendedOrgs: none, suspendedProjects: none } });
  });

  test.each(inOrgs)("$name, with what is suspended in some orgs", async ({ list }) => {
    const some = { orgIds: [largest("Org")], customerIds: [largest("Customer")] };
    await expectCheapPages(list, { visible: { orgs: "all", suspendedOrgs: some, suspendedProjects: some } });
  });
});
