import { type SqlBool, sql } from "kysely";
import { expect, test } from "vitest";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { withUniqueKey } from "../../src/filters/keyset.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import { registry } from "../../src/resource-registry.ts";
import { tablesToOrder } from "../../src/database/database.ts";
import { levelsOf } from "../../src/standard-methods/definition/definition.ts";
import { roleBindingDefinition } from "../../src/iam/role-bindings/definition.ts";
import type { Reference } from "../../src/paths/parse-path.ts";
import { listFieldsOf } from "../../src/standard-methods/read/list-fields.ts";
import { pageStatementsOf, uniqueKeyOf } from "../../src/standard-methods/read/row-reader.ts";
import { useSharedDatabase } from "../database/shared-database.ts";

const shared = useSharedDatabase();
const [place] = memberDefinition.places;
const fields = listFieldsOf(memberDefinition, place);

interface Query {
  readonly parent?: Reference;
  readonly filter?: string;
  readonly orderBy?: string;
  readonly showDeleted?: boolean;
  readonly after?: readonly string[] | undefined;
  readonly limit?: number;
}

function selectionOf(query: Query) {
  const { parent = { by: "id", value: "org-1" }, filter = "", orderBy = "", showDeleted = false, limit = 51 } = query;
  return {
    parent: [parent],
    showDeleted,
    visible: unlimited,
    condition: toSql(readFilter(filter, fields)),
    order: withUniqueKey(parseOrderBy(orderBy, fields), uniqueKeyOf(memberDefinition, place)),
    after: query.after,
    limit,
  };
}

const statements = () => pageStatementsOf(shared().reads, memberDefinition, place);

test("pages without a filter share few texts, and each has its own values", () => {
  const of = statements();
  const orgs = ["org-1", "org-2"];
  const pages = orgs.flatMap((value) =>
    [true, false].flatMap((showDeleted) =>
      [undefined, [value, "1"], [value, "2"]].flatMap((after) =>
        [2, 101].map((limit) => ({ parent: { by: "id", value } as const, showDeleted, after, limit })),
      ),
    ),
  );
  const found = pages.map((page) => of(selectionOf(page)));
  expect(new Set(found.map(({ text }) => text)).size).toBe(4);
  expect(found.every(({ isKept }) => isKept)).toBe(true);
  for (const [index, { parent, after, limit }] of pages.entries()) {
    expect(found[index]?.values).toEqual([parent.value, ...(after === undefined ? [] : after.slice(1)), limit]);
    // A statement that was compiled for this page alone is the same.
    const page = pages[index];
    if (page !== undefined) expect(statements()(selectionOf(page))).toEqual(found[index]);
  }
});

test.each<Query>([
  { filter: 'display_name = "a"' },
  { filter: "labels.team = storage" },
  { orderBy: "name" },
  { orderBy: "id desc" },
  { parent: { by: "any" } },
])("connections do not keep the page of %o, which a caller can vary", (query) => {
  const of = statements();
  of(selectionOf({}));
  expect(of(selectionOf(query))).toMatchObject({ isKept: false });
});

test.each([
  { query: {}, tables: "1" },
  { query: { orderBy: "name" }, tables: "1" },
  { query: { parent: { by: "any" } as const }, tables: "5" },
  { query: { filter: 'display_name = "a"' }, tables: undefined },
  { query: { parent: { by: "any" } as const, filter: 'display_name = "a"' }, tables: undefined },
])("the planner compares the orders of few joins for a page without a filter: $query", (given) => {
  const bindings = pageStatementsOf(shared().reads, roleBindingDefinition, roleBindingDefinition.places[0]);
  const bindingFields = listFieldsOf(roleBindingDefinition, roleBindingDefinition.places[0]);
  const order = (by: string) =>
    withUniqueKey(parseOrderBy(by, bindingFields), uniqueKeyOf(roleBindingDefinition, roleBindingDefinition.places[0]));
  const { orderBy = "", filter = "" } = given.query as Query;
  const condition = toSql(readFilter(filter, bindingFields));
  const { settings } = bindings({
    ...selectionOf({ ...given.query, orderBy: "", filter: "" }),
    condition,
    order: order(orderBy),
  });
  expect(settings["join_collapse_limit"]).toBe(given.tables);
});

test("a cursor of another order is refused", () => {
  expect(() => statements()(selectionOf({ after: ["org-1", "a", "b"] }))).toThrow("a cursor of 3 values");
});

test.each(registry.definitions.flatMap((definition) => definition.places.map((ofPaths) => ({ definition, ofPaths }))))(
  "the tables of the paths $ofPaths.pattern are among those whose order the planner compares",
  ({ definition, ofPaths }) => {
    const { sql: text } = definition.storage
      .select(shared().reads)
      .where(sql<SqlBool>`true`)
      .compile();
    const joined = [...text.matchAll(/ (?:from|join) "(\w+)"(?: as "(\w+)")?/g)].map(
      ([, table, alias]) => alias ?? table,
    );
    const aliases = levelsOf(definition, ofPaths).map(({ alias }) => alias);
    expect(joined.slice(0, tablesToOrder)).toEqual(expect.arrayContaining(aliases));
  },
);
