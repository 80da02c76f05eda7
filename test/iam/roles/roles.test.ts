// Tests custom and predefined roles, over REST and gRPC. Tests of what all resources have in common are in test/api.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { overFirst } from "../../support/transports.ts";

let server: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
});

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let api: Api;
  let org: string;
  beforeEach(async () => {
    api = createApi(protocol, server.url, server.operatorKey);
    ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } }));
  });

  const create = (permissions: string[], name = uniqueName("role")) =>
    api.roles.createRole({ parentPath: org, role: { name, permissions } });

  describe("a role of an org", () => {
    test("keeps the order of its permissions, including those of other services", async () => {
      const permissions = ["iam.projects.get", "compute.instances.start", "billing.invoiceLines.list"];
      const role = await create(permissions);
      expect(role.permissions).toEqual(permissions);
      const changed = await api.roles.updateRole({ path: role.path, role: { permissions: permissions.toReversed() } });
      expect(changed.permissions).toEqual(permissions.toReversed());
      expect((await api.roles.getRole({ path: role.path })).permissions).toEqual(permissions.toReversed());
      const emptied = await api.roles.updateRole({ path: role.path, role: {}, updateMask: { paths: ["permissions"] } });
      expect(emptied.permissions).toEqual([]);
    });

    test.each([
      [["iam.members.get", "iam.members.get"], "role.permissions"],
      [["*"], "role.permissions[0]"],
      [["iam.members.get", "iam.members.*"], "role.permissions[1]"],
      [["iam.members"], "role.permissions[0]"],
      [["Iam.members.get"], "role.permissions[0]"],
      [["iam.members.get.all"], "role.permissions[0]"],
      [[`iam.members.${"a".repeat(120)}`], "role.permissions[0]"],
      [Array.from({ length: 1001 }, (_, index) => `a.b.c${index}`), "role.permissions"],
    ])("refuses the permissions %j", async (permissions, field) => {
      expect(await failureOf(create(permissions))).toMatchObject({ code: "InvalidArgument", fields: [field] });
      const { path } = await create(["a.b.c"]);
      const update = api.roles.updateRole({ path, role: { permissions } });
      expect(await failureOf(update)).toMatchObject({ code: "InvalidArgument", fields: [field] });
    });

    test.each([
      ["iam.members.gett", /of iam.members there are .*iam.members.get,/],
      ["iam.memberz.get", /the collections of iam are .*members/],
      ["resources.instances.get", /the collections of resources are .*resources/],
    ])("has no permission %s, which this service does not have", async (unknown, offer) => {
      const refused = {
        code: "InvalidArgument",
        message: expect.stringMatching(offer),
        fields: ["role.permissions[1]"],
      };
      expect(await failureOf(create(["compute.instances.gett", unknown]))).toMatchObject(refused);
      const { path } = await create(["a.b.c"]);
      const permissions = ["a.b.c", unknown];
      expect(await failureOf(api.roles.updateRole({ path, role: { permissions } }))).toMatchObject(refused);
    });

    test("keeps a permission that only a newer version of the service has", async () => {
      const { path, id } = await create(["iam.members.get"]);
      await sql.query("update roles set permissions = array['iam.members.get', 'iam.members.fold'] where id = $1", [
        id,
      ]);
      const permissions = ["iam.members.fold", "iam.members.list"];
      const changed = await api.roles.updateRole({ path, role: { permissions } });
      expect(changed.permissions).toEqual(permissions);
    });

    test("can have a thousand permissions", async () => {
      const permissions = Array.from({ length: 1000 }, (_, index) => `a.b.c${index}`);
      expect((await create(permissions)).permissions).toEqual(permissions);
    });

    test("can have the name of a predefined one, which stays as it is", async () => {
      await create(["a.b.c"], "viewer");
      expect((await api.roles.getRole({ path: `${org}/roles/viewer` })).permissions).toEqual(["a.b.c"]);
      expect((await api.roles.getRole({ path: "roles/viewer" })).permissions).toContain("iam.projects.get");
    });

    test("is deleted with its bindings", async () => {
      const { path: rolePath } = await create(["a.b.c"]);
      const { path: subjectPath } = await api.groups.createGroup({ parentPath: org, group: { name: "sre" } });
      const roleBinding = { name: "one", rolePath, subjectPath };
      const { path } = await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
      await api.roles.deleteRole({ path: rolePath });
      expect(await failureOf(api.roleBindings.getRoleBinding({ path }))).toMatchObject({ code: "NotFound" });
    });

    test("is in the change log with the columns of its row", async () => {
      const role = await create(["a.b.c"]);
      await api.roles.updateRole({ path: role.path, role: { permissions: ["a.b.d"] } });
      await api.roles.deleteRole({ path: role.path });
      const lines = await sql.query(
        "select resource_type, resource_path, before, after from changes where resource_id = $1 order by revision",
        [role.id],
      );
      const row = (permissions: string[]) => expect.objectContaining({ id: role.id, name: role.name, permissions });
      const line = { resource_type: "Role", resource_path: role.path };
      expect(lines).toEqual([
        { ...line, before: null, after: row(["a.b.c"]) },
        { ...line, before: row(["a.b.c"]), after: row(["a.b.d"]) },
        { ...line, before: row(["a.b.d"]), after: null },
      ]);
      expect(Object.keys(lines[0]?.["after"] as object).toSorted()).toEqual(await columnsOf("roles"));
    });
  });

  describe("the predefined roles", () => {
    test("are listed for the platform, page by page", async () => {
      const { roles, totalSize, nextPageToken } = await api.roles.listRoles({});
      expect(roles.map(({ name }) => name).slice(0, 4)).toEqual(["owner", "admin", "editor", "viewer"]);
      expect([totalSize, nextPageToken]).toEqual([roles.length, ""]);
      const paged = [];
      let pageToken = "";
      do {
        const page = await api.roles.listRoles({ pageSize: 4, pageToken });
        expect(page.roles.length).toBeLessThanOrEqual(4);
        paged.push(...page.roles);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(paged).toEqual(roles);
      const ofOrg = await api.roles.listRoles({ parentPath: org });
      expect([ofOrg.roles, ofOrg.totalSize]).toEqual([[], 0]);
    });

    test("refuse the page token of another list, a filter and an order", async () => {
      await create(["a.b.c"]);
      await create(["a.b.c"]);
      const { nextPageToken: pageToken } = await api.roles.listRoles({ parentPath: org, pageSize: 1 });
      expect(await failureOf(api.roles.listRoles({ pageToken }))).toMatchObject({ reason: "PAGE_TOKEN_INVALID" });
      for (const [query, field] of [
        [{ filter: "name = owner" }, "filter"],
        [{ orderBy: "name" }, "order_by"],
      ] as const) {
        expect(await failureOf(api.roles.listRoles(query))).toMatchObject({ code: "InvalidArgument", fields: [field] });
      }
    });

    test("are found by name and id", async () => {
      const owner = await api.roles.getRole({ path: "roles/owner" });
      expect(owner).toMatchObject({ path: "/roles/owner", displayName: "Owner", permissions: ["*"] });
      expect(await api.roles.getRole({ path: `roles/@${owner.id}` })).toEqual(owner);
      for (const path of ["roles/nobody", "roles/@01990000-0000-7000-8000-00000000ffff"]) {
        expect(await failureOf(api.roles.getRole({ path }))).toMatchObject({ code: "NotFound" });
      }
    });
  });
});

test("the predefined roles cannot be changed", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  for (const call of [
    () => api.roles.updateRole({ path: "roles/viewer", role: { displayName: "Reader" } }),
    () => api.roles.updateRole({ path: "roles/new", role: { displayName: "New" }, allowMissing: true }),
    () => api.roles.deleteRole({ path: "roles/viewer" }),
  ]) {
    expect(await failureOf(call())).toMatchObject({ code: "FailedPrecondition", reason: "ROLE_PREDEFINED" });
  }
  const response = await fetch(`${server.url}/iam/v1alpha/roles/viewer`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${server.operatorKey}` },
  });
  expect(response.status).toBe(405);
});

async function columnsOf(table: string): Promise<string[]> {
  const rows = await sql.query(
    "select column_name as name from information_schema.columns where table_name = $1 and column_name <> 'customer_id'",
    [table],
  );
  return rows.map(({ name }) => String(name)).toSorted();
}
