// What happens when a part of a resource is left out: the server does not start, and says which. A made-up resource with a
// table of its own stands in for a new one.
import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { catalog, registry } from "../../src/catalog.ts";
import type { Database } from "../../src/database/database.ts";
import { customerDefinition } from "../../src/customers/definition.ts";
import { projectDefinition } from "../../src/projects/definition.ts";
import { SchemaMismatchError, checkSchema, findUndefinedColumns } from "../../src/resource/check-schema.ts";
import { type ResourceDefinition, type ResourceStorage, placeBelow } from "../../src/resource/definition.ts";
import { createRegistry, requireAllDefined } from "../../src/resource/registry.ts";
import { orgDefinition } from "../../src/orgs/definition.ts";
import { createPredefinedRoles } from "../../src/roles/predefined-roles.ts";
import { completeService } from "../../src/resource/standard-service.ts";
import { createMethodTable, permissionsOf } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { openTestDatabase } from "../support/test-database.ts";

/** The made-up resource: a project, as far as its proto goes, in a table of its own. */
const widget: ResourceDefinition = {
  ...projectDefinition,
  storage: { ...projectDefinition.storage, table: "widgets" as "projects", nameConstraints: ["widgets_name_key"] },
  fields: {},
};

const others = registry.definitions.filter(({ type }) => type !== "Project");
const withWidget = (change: Partial<ResourceDefinition> = {}) => createRegistry([...others, { ...widget, ...change }]);
const withStorage = (change: Partial<ResourceStorage>) => withWidget({ storage: { ...widget.storage, ...change } });
const without = (column: string) => widget.storage.columns.filter((each) => each !== column);

test("a whole one is taken", () => {
  expect(withWidget().definitionOf("Project").storage.table).toBe("widgets");
});

describe("a registry refuses", () => {
  test.each([
    [
      "a resource that the protos declare and nothing defines",
      () => requireAllDefined(createRegistry(withoutDangling(others))),
      "the protos declare the resource Project, and no definition of it is registered",
    ],
    [
      "one that is defined twice",
      () => createRegistry([...registry.definitions, widget]),
      "the resource Project is defined twice",
    ],
    [
      "the message of another",
      () => withWidget({ schema: orgDefinition.schema }),
      "the resource Project: its schema is that of Org",
    ],
    [
      "a place that the proto does not have",
      () => withWidget({ places: [placeBelow("Member", orgDefinition, "org_id")] }),
      "its proto has the pattern orgs/{org}/projects/{project}, and none of its places has",
    ],
    [
      "a parent that is left out",
      () => withWidget({ places: [{ ...widget.places[0], parents: [] }] }),
      "what it is in does not lead to orgs/{org}/projects/{project}",
    ],
    ["a column of its parent", () => withStorage({ columns: without("org_id") }), "its columns lack org_id"],
    ["a column of its key", () => withStorage({ columns: without("id") }), "its columns lack id"],
    [
      "the column of its states",
      () => withStorage({ columns: without("state") }),
      "its columns lack state, in which its states are",
    ],
    [
      "the column of its deletion",
      () => withStorage({ columns: without("delete_time") }),
      "its columns lack delete_time, which a resource with a lifecycle has",
    ],
    [
      "a lifecycle that its columns have",
      () => withWidget({ lifecycle: undefined }),
      "it has a delete_time and no lifecycle",
    ],
    [
      "labels that it does not say how to find",
      () => withStorage({ labels: "none" }),
      "what it says of labels is not what its columns say",
    ],
    ["the constraint on its names", () => withStorage({ nameConstraints: [] }), "no constraint keeps its names unique"],
    [
      "the parent by which it is counted",
      () => withStorage({ countedBy: undefined }),
      "it has a limit and is not counted",
    ],
    [
      "a reference to what is not defined",
      () => createRegistry([...others.filter(({ type }) => type !== "Org"), widget]),
      "refers to Org, which is not defined",
    ],
    [
      "the service that has its methods",
      () => withWidget({ service: orgDefinition.service }),
      "has no method whose permission is iam.projects.<verb>",
    ],
  ])("%s", (_what, create, problem) => {
    expect(create).toThrow(problem);
  });
});

test("a resource that is in no list of the catalog keeps the server from starting", () => {
  const listed = catalog.flatMap(({ definitions }) => definitions);
  for (const left of listed) {
    const rest = listed.filter(
      (definition) => definition !== left && !definition.storage.references.some(({ to }) => to === left.type),
    );
    const message = `the protos declare the resource`;
    expect(() => requireAllDefined(createRegistry(withoutDangling(rest)))).toThrow(message);
  }
});

/** Without those that refer to others that are not there. */
function withoutDangling(definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] {
  const kept = definitions.filter(({ storage }) =>
    storage.references.every(({ to }) => definitions.some(({ type }) => type === to)),
  );
  return kept.length === definitions.length ? kept : withoutDangling(kept);
}

test("a method that no handler serves keeps the server from starting", () => {
  expect(() => completeService(projectDefinition.service, {})).toThrow("has no handler for GetProject");
});

describe("predefined roles refuse", () => {
  const permissions = permissionsOf(createMethodTable(services));
  test.each([
    ["a role that there is not", { heldBy: { "widget-admin": ["*"] } }, "names a predefined role widget-admin"],
    [
      "a verb that no permission has",
      { heldBy: { editor: ["polish"] } },
      "no permission is called iam.projects.polish",
    ],
    ["a verb that admin could not have", { notByAdmin: ["polish"] }, "no permission is called iam.projects.polish"],
  ])("%s", (_what, access, problem) => {
    const definition = { ...widget, access: { ...widget.access, ...access } };
    expect(() => createPredefinedRoles(permissions, [definition])).toThrow(problem);
  });
});

describe("a database is refused", () => {
  let database: Database;
  beforeEach(async () => {
    database = await openTestDatabase();
    await sql`create table widgets (like projects including defaults including constraints)`.execute(database.writes);
    for (const statement of statements) await sql.raw(statement).execute(database.writes);
  });

  /** Of what refers to it, too, the database knows nothing. */
  const check = () => checkSchema(database.reads, createRegistry([customerDefinition, orgDefinition, widget]));
  const change = (statement: string) => sql.raw(statement).execute(database.writes);

  test("not when all is there", async () => {
    await check();
  });

  test("without its table", async () => {
    await change("drop table widgets");
    await expect(check()).rejects.toThrow("the resource Project: there is no table widgets");
  });

  test.each(widget.storage.columns)("without the column %s", async (column) => {
    await change(`alter table widgets drop column ${column} cascade`);
    await expect(check()).rejects.toThrow(`the resource Project: the table widgets has no column ${column}`);
  });

  test.each(Object.entries(indexes))("without the index %s", async (name, form) => {
    await change(`drop index ${name}`);
    const failure = await check().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SchemaMismatchError);
    expect((failure as Error).message).toContain(name === "widgets_name_key" ? name : form);
  });

  test("with a name that may be there twice", async () => {
    await change("drop index widgets_name_key");
    await change("create index widgets_name_key on widgets (org_id, name)");
    await expect(check()).rejects.toThrow("the table widgets has no unique index widgets_name_key");
  });

  test("without its key", async () => {
    await change("alter table widgets drop constraint widgets_pkey");
    await expect(check()).rejects.toThrow("the table widgets has no PRIMARY KEY (org_id, id)");
  });

  test("without the reference to what it is in, or with one that removes by itself", async () => {
    await change("alter table widgets drop constraint widgets_org_id_fkey");
    await expect(check()).rejects.toThrow("the table widgets has no FOREIGN KEY (org_id) REFERENCES orgs(id)");
    await change("alter table widgets add foreign key (org_id) references orgs on delete cascade");
    await expect(check()).rejects.toThrow("ON DELETE CASCADE that is not among the references of its definition");
  });

  test("with a reference that its definition does not have", async () => {
    await change("alter table widgets add column maker uuid, add foreign key (org_id, maker) references members");
    await expect(check()).rejects.toThrow(
      "FOREIGN KEY (org_id, maker) REFERENCES members(org_id, id) that is not among",
    );
  });

  test("by name of a column that no definition has, which the change log would lack", async () => {
    await change("alter table widgets add column later text");
    expect(await findUndefinedColumns(database.reads, withWidget())).toEqual(["widgets.later"]);
  });
});

/** The indexes of the made-up resource, and their forms. */
const indexes: Readonly<Record<string, string>> = Object.fromEntries([
  ["widgets_name_key", "unique"],
  ...[
    ["name", `(org_id, name COLLATE "C")`],
    ["display_name", `(org_id, display_name COLLATE "C", id)`],
    ["create_time", `(org_id, create_time, id)`],
    ["update_time", `(org_id, update_time, id)`],
  ].flatMap(([name, columns]) => [
    [`widgets_by_${name}`, `btree ${columns} WHERE (delete_time IS NULL)`],
    [`widgets_by_${name}_deleted`, `btree ${columns} WHERE (delete_time IS NOT NULL)`],
  ]),
  ["widgets_live", "btree (org_id, id) WHERE (delete_time IS NULL)"],
  ["widgets_id", "hash (id)"],
  ["widgets_purge", "btree (purge_time) WHERE (purge_time IS NOT NULL)"],
]);

const statements = [
  "alter table widgets add primary key (org_id, id), add foreign key (org_id) references orgs",
  ...Object.entries(indexes).map(([name, form]) =>
    name === "widgets_name_key"
      ? `create unique index ${name} on widgets (org_id, name) where delete_time is null`
      : `create index ${name} on widgets using ${form}`,
  ),
];

test("every column of the database is named by a definition", async () => {
  const database = await openTestDatabase();
  expect(await findUndefinedColumns(database.reads, registry)).toEqual([]);
  await checkSchema(database.reads, registry);
});
