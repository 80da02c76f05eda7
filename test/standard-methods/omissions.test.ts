// Tests what happens if a part of a resource is left out: the server does not start, and the error names the part. A made-up
// resource with its own table stands in for a new one.
import { type DescService, clone, getExtension, setExtension } from "@bufbuild/protobuf";
import { type MethodDescriptorProto, MethodDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type ControlledTransaction, sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { registeredResources, registry } from "../../src/resource-registry.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { Schema } from "../../src/database/schema.ts";
import { required } from "../../src/errors/required.ts";
import { serviceDefinition } from "../../src/resources/services/definition.ts";
import { customerDefinition } from "../../src/iam/customers/definition.ts";
import { projectDefinition } from "../../src/iam/projects/definition.ts";
import {
  SchemaMismatchError,
  checkSchema,
  findUndefinedColumns,
} from "../../src/standard-methods/definition/check-schema.ts";
import {
  type ResourceDefinition,
  type ResourceStorage,
  placeBelow,
} from "../../src/standard-methods/definition/definition.ts";
import { createRegistry, requireAllDefined } from "../../src/standard-methods/definition/registry.ts";
import { orgDefinition } from "../../src/iam/orgs/definition.ts";
import { createPredefinedRoles } from "../../src/iam/roles/predefined-roles.ts";
import { completeService } from "../../src/standard-methods/standard-service.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { type TestDatabase, createTestDatabase, openTestDatabase } from "../support/test-database.ts";

/** The made-up resource: the proto of a project, with another table. */
const widget: ResourceDefinition = {
  ...projectDefinition,
  storage: { ...projectDefinition.storage, table: "widgets" as "projects", nameConstraints: ["widgets_name_key"] },
  fields: {},
};

const others = registry.definitions.filter(({ type }) => type !== "Project");
const withWidget = (change: Partial<ResourceDefinition> = {}) => createRegistry([...others, { ...widget, ...change }]);
const withStorage = (change: Partial<ResourceStorage>) => withWidget({ storage: { ...widget.storage, ...change } });
/** The methods of Orgs, with an UpdateOrg that has only the options of GetOrg. */
const renamedByAll: DescService = {
  ...orgDefinition.service,
  methods: orgDefinition.service.methods.map((method) =>
    method.name === "UpdateOrg" ? { ...method, proto: OrgsService.method.getOrg.proto } : method,
  ),
};
/** The methods of Services, with a permission to rename for UpdateService. */
const renamedByNone: DescService = {
  ...serviceDefinition.service,
  methods: serviceDefinition.service.methods.map((method) =>
    method.name === "UpdateService" ? { ...method, proto: withRenamePermission(method.proto) } : method,
  ),
};

function withRenamePermission(proto: MethodDescriptorProto): MethodDescriptorProto {
  const changed = clone(MethodDescriptorProtoSchema, proto);
  const options = required(changed.options);
  setExtension(options, authorization, {
    ...getExtension(options, authorization),
    renamePermission: "iam.orgs.create",
  });
  return changed;
}

const without = (column: string) => widget.storage.columns.filter((each) => each !== column);

test("a complete resource is accepted", () => {
  expect(withWidget().definitionOf("Project").storage.table).toBe("widgets");
});

describe("a registry refuses", () => {
  test.each([
    [
      "a resource of the protos without a definition",
      () => requireAllDefined(createRegistry(withoutDangling(others))),
      "the protos declare the resource AccessRequest, but no definition of it is registered",
    ],
    [
      "a resource with two definitions",
      () => createRegistry([...registry.definitions, widget]),
      "the resource Project is defined twice",
    ],
    [
      "the message of another resource",
      () => withWidget({ schema: orgDefinition.schema }),
      "the resource Project: its schema is that of Org",
    ],
    [
      "a place that is not in the proto",
      () => withWidget({ places: [placeBelow("Member", orgDefinition, "org_id")] }),
      "the pattern orgs/{org}/projects/{project} of its proto is not among its places",
    ],
    [
      "a missing parent",
      () => withWidget({ places: [{ ...widget.places[0], parents: [] }] }),
      "its parents do not match orgs/{org}/projects/{project}",
    ],
    ["a missing column of its parent", () => withStorage({ columns: without("org_id") }), "its columns lack org_id"],
    ["a missing column of its key", () => withStorage({ columns: without("id") }), "its columns lack id"],
    [
      "a missing column of its states",
      () => withStorage({ columns: without("state") }),
      "its columns lack state, which holds its state",
    ],
    [
      "a missing column of its deletion",
      () => withStorage({ columns: without("delete_time") }),
      "its columns lack delete_time, which a resource with a lifecycle has",
    ],
    [
      "a missing lifecycle although it has the columns",
      () => withWidget({ lifecycle: undefined }),
      "it has a delete_time but no lifecycle",
    ],
    [
      "a key with too many columns for a resource that locks its contents",
      () => withStorage({ key: ["org_id", "name", "id"] }),
      "it locks its contents, so its key must be the org_id and the id, or the id alone",
    ],
    [
      "reserved names of a resource with a parent",
      () => withWidget({ lifecycle: { states: ["ACTIVE"], contents: "locked", deletedNames: "reserved" } }),
      "it reserves the names of deleted resources, so its names must be unique on the whole platform",
    ],
    [
      "a missing permission to take a name that is unique on the platform",
      () => createRegistry([customerDefinition, { ...orgDefinition, service: renamedByAll }]),
      "UpdateOrg must have a rename_permission if, and only if, its names are unique on the whole platform and can change",
    ],
    [
      "a permission to take a name although names cannot change",
      () => createRegistry([customerDefinition, orgDefinition, { ...serviceDefinition, service: renamedByNone }]),
      "UpdateService must have a rename_permission if, and only if, its names are unique on the whole platform and can change",
    ],
    [
      "labels without the way to find them",
      () => withStorage({ labels: "none" }),
      "its storage.labels contradicts its columns",
    ],
    [
      "a missing constraint on its names",
      () => withStorage({ nameConstraints: [] }),
      "no constraint keeps its names unique",
    ],
    ["a limit without a count", () => withStorage({ countedBy: undefined }), "it has a limit but is not counted"],
    [
      "a reference to an undefined resource",
      () => createRegistry([...others.filter(({ type }) => type !== "Org"), widget]),
      "refers to Org, which is not defined",
    ],
    [
      "a hidden reference to an undefined resource",
      () => createRegistry([...others.filter(({ type }) => type !== "QualityKind"), widget]),
      "refers to QualityKind, which is not defined",
    ],
    [
      "a reference that keeps what is removed together with something else",
      () =>
        withStorage({
          columns: [...widget.storage.columns, "identity_id"],
          references: [...widget.storage.references, { column: "identity_id", to: "Identity", onDelete: "restrict" }],
        }),
      "the resource Project keeps Identity, which is removed together with Member: it must refer to Member, too",
    ],
    [
      "a service without its methods",
      () => withWidget({ service: orgDefinition.service }),
      "has no method whose permission is iam.projects.<verb>",
    ],
    [
      "methods of another area",
      () =>
        createRegistry([customerDefinition, orgDefinition, { ...serviceDefinition, service: orgDefinition.service }]),
      "has no method whose permission is resources.services.<verb>",
    ],
  ])("%s", (_what, create, problem) => {
    expect(create).toThrow(problem);
  });
});

test("the server does not start with a resource that is in no list of the catalog", () => {
  const listed = registeredResources.flatMap(({ definitions }) => definitions);
  for (const left of listed) {
    const rest = listed.filter(
      (definition) => definition !== left && !definition.storage.references.some(({ to }) => to === left.type),
    );
    const message = `the protos declare the resource`;
    expect(() => requireAllDefined(createRegistry(withoutDangling(rest)))).toThrow(message);
  }
});

/** Returns the definitions without those that refer to missing ones. */
function withoutDangling(definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] {
  const kept = definitions.filter(({ storage }) =>
    [...storage.references, ...(storage.hiddenReferences ?? [])].every(({ to }) =>
      definitions.some(({ type }) => type === to),
    ),
  );
  return kept.length === definitions.length ? kept : withoutDangling(kept);
}

test("the server does not start with a method that no handler serves", () => {
  expect(() => completeService(projectDefinition.service, {})).toThrow("has no handler for GetProject");
});

describe("predefined roles refuse", () => {
  const permissions = permissionsOfMethods(createMethodTable(services));
  test.each([
    [
      "an unknown role",
      { heldBy: { "widget-admin": ["*"] } },
      "heldBy names the unknown role widget-admin; the roles are editor, viewer, ",
    ],
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
  let created: TestDatabase;
  let database: Database;
  // Each test changes the schema in a transaction that is rolled back.
  let db: ControlledTransaction<Schema>;
  beforeAll(async () => {
    created = await createTestDatabase();
    database = openDatabase({
      connection: { connectionString: created.url },
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    await sql`create table widgets (like projects including defaults including constraints)`.execute(database.writes);
    for (const statement of statements) await sql.raw(statement).execute(database.writes);
  });
  afterAll(async () => {
    await database.close();
    await created.drop();
  });
  beforeEach(async () => {
    db = await database.writes.startTransaction().execute();
  });
  afterEach(() => db.rollback().execute());

  /** Checks a database in which nothing refers to the widgets. */
  const check = () => checkSchema(db, createRegistry([customerDefinition, orgDefinition, widget]));
  const change = (statement: string) => sql.raw(statement).execute(db);

  test("not if it is complete", async () => {
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

  test("with a name that can exist twice", async () => {
    await change("drop index widgets_name_key");
    await change("create index widgets_name_key on widgets (org_id, name)");
    await expect(check()).rejects.toThrow("the table widgets has no unique index widgets_name_key");
  });

  test("with an index of names that treats deleted ones otherwise than the definition", async () => {
    await change("drop index widgets_name_key");
    await change("create unique index widgets_name_key on widgets (org_id, name)");
    await expect(check()).rejects.toThrow(
      "the unique index widgets_name_key must end with WHERE (delete_time IS NULL)",
    );
    await change("drop index orgs_name_key");
    await change("create unique index orgs_name_key on orgs (name) where delete_time is null");
    await expect(check()).rejects.toThrow("the unique index orgs_name_key leaves out rows whose names are reserved");
  });

  test("without its primary key", async () => {
    await change("alter table widgets drop constraint widgets_pkey");
    await expect(check()).rejects.toThrow("the table widgets has no PRIMARY KEY (org_id, id, customer_id)");
  });

  test("without the reference to its parent, or with one that cascades", async () => {
    await change("alter table widgets drop constraint widgets_customer_id_org_id_fkey");
    await expect(check()).rejects.toThrow(
      "the table widgets has no FOREIGN KEY (customer_id, org_id) REFERENCES orgs(customer_id, id)",
    );
    const reference = "foreign key (customer_id, org_id) references orgs (customer_id, id)";
    await change(`alter table widgets add ${reference} on delete cascade`);
    await expect(check()).rejects.toThrow("ON DELETE CASCADE that is not among the references of its definition");
  });

  test("without the index that finds what a row keeps", async () => {
    await change("drop index resources_type");
    await expect(checkSchema(db, registry)).rejects.toThrow(
      "the table resources has no index btree (type_id), which is needed because rows keep the row that type_id refers to",
    );
  });

  test("with a reference that its definition does not have", async () => {
    await change(
      "alter table widgets add column maker uuid, " +
        "add foreign key (customer_id, org_id, maker) references members (customer_id, org_id, id)",
    );
    await expect(check()).rejects.toThrow(
      "FOREIGN KEY (customer_id, org_id, maker) REFERENCES members(customer_id, org_id, id) that is not among",
    );
  });

  test("reports a column that no definition has, which the change log would lack", async () => {
    await change("alter table widgets add column later text");
    expect(await findUndefinedColumns(db, withWidget())).toEqual(["widgets.later"]);
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
  "alter table widgets add primary key (org_id, id, customer_id), " +
    "add foreign key (customer_id, org_id) references orgs (customer_id, id)",
  ...Object.entries(indexes).map(([name, form]) =>
    name === "widgets_name_key"
      ? `create unique index ${name} on widgets (org_id, name) where delete_time is null`
      : `create index ${name} on widgets using ${form}`,
  ),
];

test("every column of the database is in a definition", async () => {
  const database = await openTestDatabase();
  expect(await findUndefinedColumns(database.reads, registry)).toEqual([]);
  await checkSchema(database.reads, registry);
});
