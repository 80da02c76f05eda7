// Tests which questions writes of roles and bindings put to the escalation guard. The guard of these tests records them, and
// can refuse.
import { createRecentOrgs } from "../../../src/identity/recent-orgs.ts";
import { createRevalidatedResponses } from "../../../src/standard-methods/read/revalidated-responses.ts";
import { type DescMessage, type MessageShape, create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "vitest";
import { RoleBindingSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { RoleSchema } from "../../../gen/iam/v1alpha/role_pb.ts";
import type { EscalationGuard } from "../../../src/access/escalation/guard-types.ts";
import { inTransaction } from "../../../src/changes/write-in-org.ts";
import type { Database } from "../../../src/database/database.ts";
import { registry } from "../../../src/resource-registry.ts";
import { projectDefinition } from "../../../src/iam/projects/definition.ts";
import { createFairQueue } from "../../../src/scheduling/fair-queue.ts";
import { createWriteGroups } from "../../../src/standard-methods/write/write-groups.ts";
import { createPageTokens } from "../../../src/standard-methods/read/page-token.ts";
import { required } from "../../../src/errors/required.ts";
import type { Reference } from "../../../src/paths/parse-path.ts";
import type {
  ResourceRow,
  ResourceTable,
  TypedDefinition,
} from "../../../src/standard-methods/definition/definition.ts";
import type { ServedResource } from "../../../src/standard-methods/rules.ts";
import type { PlacedRules } from "../../../src/standard-methods/standard-service.ts";
import { createRowReaders } from "../../../src/standard-methods/read/row-reader.ts";
import { checkNew } from "../../../src/standard-methods/write/check-new.ts";
import { planCreation } from "../../../src/standard-methods/write/create.ts";
import { planUpdate } from "../../../src/standard-methods/write/update.ts";
import type { WriteRequest } from "../../../src/standard-methods/write/write-call.ts";
import { type RowsWrite, writeRows } from "../../../src/standard-methods/write/write-rows.ts";
import { roleBindingDefinition } from "../../../src/iam/role-bindings/definition.ts";
import { createRoleBindingRules } from "../../../src/iam/role-bindings/role-binding-rules.ts";
import type { RoleBindingRow } from "../../../src/iam/role-bindings/store.ts";
import { alone } from "../../../src/standard-methods/batch/batch-item.ts";
import { roleDefinition } from "../../../src/iam/roles/definition.ts";
import { createPredefinedRoles } from "../../../src/iam/roles/predefined-roles.ts";
import { createRoleRules } from "../../../src/iam/roles/role-rules.ts";
import { serviceDefinition } from "../../../src/resources/services/definition.ts";
import { addMember, addOrg, insertOne, named, sampleAuthor, write } from "../../database/sample-rows.ts";
import { openTestDatabase } from "../../support/test-database.ts";

class Refused extends Error {}

let database: Database;
let org: { readonly id: string; readonly customer_id: string };
let project: string;
let service: string;
let asked: unknown[];
let refuses: boolean;

beforeEach(async () => {
  database = await openTestDatabase();
  org = await addOrg(database, "acme");
  await addMember(database, org, "alice");
  const row = await write(database, org, (transaction) =>
    insertOne(transaction, projectDefinition, { state: "ACTIVE" }, named("web")),
  );
  project = row.id;
  const catalogued = await write(database, org, (transaction) =>
    insertOne(transaction, serviceDefinition, { counted_kinds: [] }, named("compute")),
  );
  service = catalogued.id;
  [asked, refuses] = [[], false];
});

const ask = (...question: unknown[]): Promise<void> => {
  asked.push(question);
  return refuses ? Promise.reject(new Refused()) : Promise.resolve();
};

const escalation: EscalationGuard = {
  requireMayGrant: (_transaction, grants) => ask("grant", ...grants.flatMap(({ role, scope }) => [role, scope])),
  requireMayDefine: (_transaction, permissions) => ask("define", permissions),
  requireMayJoin: (_transaction, groupIds) => ask("join", ...groupIds),
  requireMayActAs: (_transaction, memberId) => ask("act", memberId),
  requireMayImpersonate: (_transaction, memberId) => ask("impersonate", memberId),
  requireMayRevoke: (_transaction, revocations) => ask("revoke", ...revocations),
  requireMayConfirm: (_transaction, memberId) => ask("confirm", memberId),
  requireMayLink: (_transaction, memberId) => ask("link", memberId),
  isOwner: () => Promise.resolve(false),
  requireMayBreakGlass: () => ask("break glass"),
  requireMayRename: (_transaction, renamed) => ask("rename", renamed),
  requireMayRelabel: (_transaction, scope) => ask("relabel", scope),
};

const writeQueue = createFairQueue({ capacity: 1, perTarget: 1 });

const decidesNothing = (): Promise<never> => Promise.reject(new Error("no name here is unique on the platform"));

const dependencies = () => ({
  database,
  escalation,
  authorHolds: Object.assign(decidesNothing, { now: decidesNothing, ifActive: decidesNothing }),
  previewAccess: () => Promise.reject(new Error("nothing is only checked here")),
  writeQueue,
  writeGroups: createWriteGroups({ database, writeQueue }),
  previewQueue: createFairQueue({ capacity: 1, perTarget: 1 }),
  listQueue: createFairQueue({ capacity: 1, perTarget: 1 }),
  revalidatedResponses: createRevalidatedResponses(() => Promise.resolve(undefined), 0),
  recentOrgs: createRecentOrgs(),
  predefinedRoles: createPredefinedRoles([], []),
  knownPermissions: [],
  installation: {
    systemOrgId: org.id,
    operatorId: "",
    pageTokenKey: Buffer.alloc(32),
    commandLineClientId: "",
  },
  pageTokens: createPageTokens(Buffer.alloc(32)),
  pastReads: { get: decidesNothing, list: decidesNothing },
  registry,
  readers: createRowReaders(database, registry),
  limits: {},
  retentionDays: 30,
});

/** Returns a resource as its service has it. */
function serve<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  definition: TypedDefinition<Table, Row, Desc>,
  { place, rules }: PlacedRules<Table, Row, Desc>,
): ServedResource<Table, Row, Desc> {
  const all = dependencies();
  return { definition, place, rules, reader: all.readers.readerOf(definition, place), dependencies: all };
}

const kinds = ["org", "project", "customer", "service", "platform"] as const;

function serveBindings(kind: (typeof kinds)[number]) {
  const placed = required(createRoleBindingRules(dependencies())[kinds.indexOf(kind)]);
  return serve<"role_bindings", RoleBindingRow, typeof RoleBindingSchema>(roleBindingDefinition, placed);
}

const serveRoles = () =>
  serve(roleDefinition, { place: roleDefinition.places[0], rules: createRoleRules(dependencies()) });

const byId = (value: string) => ({ by: "id", value }) as const;
const binding = (fields: object = {}) =>
  create(RoleBindingSchema, {
    name: "one",
    rolePath: "/roles/viewer",
    subjectPath: "/orgs/acme/members/alice",
    ...fields,
  });

/** Runs a write in the org. */
const run = <Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  prepare: RowsWrite<Row, Row>["prepare"],
): Promise<Row> =>
  inTransaction(database, (db) => {
    const request = { author: sampleAuthor } as WriteRequest;
    return writeRows(served, { db, request, written: [] }, { locks: { org: byId(org.id) }, prepare });
  });

async function insert<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  parent: readonly Reference[],
  message: MessageShape<Desc>,
): Promise<Row> {
  const checked = await checkNew(served, [message]);
  const resources = { parents: [parent], messages: [message], checked };
  return run(served, (transaction) =>
    planCreation(served, transaction, resources, alone, ([row]: readonly Row[]) => required(row)),
  );
}

describe("a binding", () => {
  const parents = {
    org: () => [byId(org.id)],
    project: () => [byId(org.id), byId(project)],
    customer: () => [byId(org.customer_id)],
    service: () => [byId(service)],
    platform: () => [],
  };
  const ids = {
    org: () => org.id,
    project: () => project,
    customer: () => org.customer_id,
    service: () => service,
    platform: () => "",
  };

  test.each(kinds)(
    "on a %s requires the right to grant its role there, and again whenever it grants more",
    async (kind) => {
      const served = serveBindings(kind);
      const granted = { role: { predefined: "viewer" }, scope: { kind, id: ids[kind]() } };
      const gives = ["grant", granted.role, granted.scope];
      let row = await insert(served, parents[kind](), binding());
      expect(asked).toEqual([gives]);
      const takes = ["revoke", { kind: "role", ...granted, memberId: row.member_id }];

      const update = async (fields: object) => {
        const message = { ...roleBindingDefinition.toMessage(row), ...fields };
        asked = [];
        row = await run(served, async (transaction) => planUpdate(served, transaction, row, () => message));
        return asked.filter((each) => (each as string[])[0] !== "rename");
      };
      expect(await update({ description: "why", name: "two", labels: { a: "b" } })).toEqual([]);
      const year = (number: number) => timestampFromDate(new Date(`${number}-01-01`));
      expect(await update({ expireTime: year(2100) })).toEqual([takes]);
      expect(await update({ expireTime: year(2099) })).toEqual([takes]);
      expect(await update({ description: "still" })).toEqual([]);
      expect(await update({ startTime: year(2089) })).toEqual([takes]);
      expect(await update({ startTime: year(2090) })).toEqual([takes]);
      expect(await update({ startTime: year(2091), expireTime: year(2100) })).toEqual([gives, takes]);
      expect(await update({ condition: "context.vip" })).toEqual([takes]);
      expect(await update({ condition: "context.boss" })).toEqual([gives, takes]);
      expect(await update({ startTime: year(2080) })).toEqual([gives]);
      expect(await update({ startTime: undefined, expireTime: undefined, condition: "" })).toEqual([gives]);
    },
  );

  test("of a role of the org requires the right to grant that role", async () => {
    const role = await insert(serveRoles(), [], create(RoleSchema, { name: "deployer" }));
    asked = [];
    await insert(serveBindings("org"), parents.org(), binding({ rolePath: "/orgs/acme/roles/deployer" }));
    expect(asked).toEqual([["grant", { id: role.id }, { kind: "org", id: org.id }]]);
  });

  test("is not created if the guard refuses", async () => {
    refuses = true;
    await expect(insert(serveBindings("org"), parents.org(), binding())).rejects.toThrow(Refused);
    expect(await database.reads.selectFrom("role_bindings").select("id").execute()).toEqual([]);
  });
});

describe("a role", () => {
  test("requires the right to grant the permissions that are added, and to revoke those that are removed", async () => {
    const served = serveRoles();
    const role = (permissions: string[]) => create(RoleSchema, { name: "deployer", permissions });
    let row = await insert(served, [], role(["a.b.c", "a.b.d"]));
    expect(asked).toEqual([["define", ["a.b.c", "a.b.d"]]]);
    const update = async (permissions: string[]) => {
      asked = [];
      row = await run(served, async (transaction) => planUpdate(served, transaction, row, () => role(permissions)));
      return asked;
    };
    const loses = (...permissions: string[]) => [
      "revoke",
      { kind: "permissions", roleId: row.id, permissions, memberId: null },
    ];
    expect(await update(["a.b.d", "a.b.e", "a.b.c"])).toEqual([["define", ["a.b.e"]]]);
    expect(await update(["a.b.e"])).toEqual([loses("a.b.d", "a.b.c")]);
    expect(await update(["a.b.f"])).toEqual([["define", ["a.b.f"]], loses("a.b.e")]);
    refuses = true;
    for (const permissions of [["a.b.f", "a.b.g"], []]) await expect(update(permissions)).rejects.toThrow(Refused);
  });
});
