// Tests roles on services of the catalog, and the permissions of providers.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import { Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { overFirst } from "../../support/transports.ts";

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const system = "/orgs/system";
const create = "resources.resourceTypes.create";
const denied = { code: "PermissionDenied" };

function clientsOf(api: Api) {
  return {
    ...api,
    access: createClient(AccessService, api.transport),
  };
}

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let operator: ReturnType<typeof clientsOf>;
  /** These are paths. */
  let compute: string;
  let storage: string;
  /** An application of the org `system`. */
  let runner: ReturnType<typeof clientsOf> & { readonly path: string };

  beforeAll(() => {
    operator = clientsOf(createApi(protocol, server.url, server.operatorKey));
  });
  beforeEach(async () => {
    ({ path: compute } = await operator.services.createService({ service: { name: uniqueName("compute") } }));
    ({ path: storage } = await operator.services.createService({ service: { name: uniqueName("storage") } }));
    runner = await join();
  });

  /** Creates an application in an org, and returns clients that call with its key. */
  const join = async (parentPath = system) => {
    const member = { name: uniqueName("runner"), type: Member_Type.APPLICATION };
    const { path } = await operator.members.createMember({ parentPath, member });
    const { secret } = await operator.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
    return { ...clientsOf(createApi(protocol, server.url, secret)), path };
  };
  const bindAs = async (api: Api, parentPath: string, role: string, subjectPath: string, fields: object = {}) => {
    const roleBinding = { name: uniqueName("b"), rolePath: `/roles/${role}`, subjectPath, ...fields };
    return (await api.roleBindings.createRoleBinding({ parentPath, roleBinding })).path;
  };
  const bind = (parentPath: string, role: string, subjectPath: string, fields: object = {}) =>
    bindAs(operator, parentPath, role, subjectPath, fields);
  const may = async (subjectPath: string, resourcePath: string, permission = create) =>
    (await operator.access.checkAccess({ subjectPath, permission, resourcePath })).allowed;
  const typeNamed = (name: string) => ({
    name,
    collection: `${name}s`,
    operations: [{ verb: "create" }, { verb: "delete" }],
  });
  const idPathOf = async (path: string) => `/services/@${(await operator.services.getService({ path })).id}`;

  test("a provider writes the resource types of its own service, and nothing else", async () => {
    const binding = await bind(compute, "provider", runner.path);
    const { path } = await runner.resourceTypes.createResourceType({
      parentPath: compute,
      resourceType: typeNamed("disk"),
    });
    await runner.resourceTypes.updateResourceType({ path, resourceType: { description: "A disk." } });
    const made = `${compute}/resourceTypes/made`;
    await runner.resourceTypes.updateResourceType({ path: made, resourceType: typeNamed("made"), allowMissing: true });
    await runner.resourceTypes.batchDeleteResourceTypes({ parentPath: await idPathOf(compute), paths: [made] });
    for (const call of [
      () => runner.resourceTypes.createResourceType({ parentPath: storage, resourceType: typeNamed("disk") }),
      () => runner.roleBindings.listRoleBindings({ parentPath: "services/-" }),
      () => runner.services.updateService({ path: compute, service: { description: "Mine." } }),
      () => runner.services.deleteService({ path: compute }),
      () => runner.roleBindings.listRoleBindings({ parentPath: compute }),
    ]) {
      expect(await failureOf(call())).toMatchObject(denied);
    }
    await operator.roleBindings.deleteRoleBinding({ path: binding });
    expect(await failureOf(runner.resourceTypes.deleteResourceType({ path }))).toMatchObject(denied);
  });

  test("checks cover the service and its contents, by names and ids", async () => {
    const group = await operator.groups.createGroup({ parentPath: system, group: { name: uniqueName("runners") } });
    await bind(compute, "provider", group.path);
    await operator.groupMembers.createGroupMember({
      parentPath: group.path,
      groupMember: { memberPath: runner.path },
    });
    const byId = await idPathOf(compute);
    const below = ["", "/resourceTypes/disk", "/operations/op-1"];
    for (const path of [compute, byId]) {
      for (const rest of below) expect([rest, await may(runner.path, `${path}${rest}`)]).toEqual([rest, true]);
    }
    for (const path of [storage, "/services/nosuchone", system, "", `${system}/projects/web`]) {
      expect([path, await may(runner.path, path)]).toEqual([path, false]);
    }
    const { allowed, grants } = await operator.access.explainAccess({
      subjectPath: runner.path,
      permission: create,
      resourcePath: `${byId}/resourceTypes/disk`,
    });
    expect([allowed, grants.map(({ rolePath, groupPaths }) => ({ rolePath, groupPaths }))]).toEqual([
      true,
      [{ rolePath: "/roles/provider", groupPaths: [group.path] }],
    ]);
    expect(grants[0]?.roleBindingPath).toMatch(new RegExp(`^${compute}/roleBindings/`));
    const { subjectPaths } = await operator.access.listSubjects({ permission: create, resourcePath: compute });
    expect(subjectPaths).toEqual(expect.arrayContaining([`${system}/members/operator`, runner.path]));
    const others = await operator.access.listSubjects({ permission: create, resourcePath: `${storage}/x/y` });
    expect(others.subjectPaths).not.toContain(runner.path);
    const wrong = operator.access.listSubjects({ permission: create, resourcePath: "/services/nosuchone" });
    expect(await failureOf(wrong)).toMatchObject({ code: "NotFound" });
  });

  test("the error for a missing permission on a service names the smallest role with it and its grantors", async () => {
    const { allowed, rolePaths, granterPaths } = await operator.access.explainAccess({
      subjectPath: runner.path,
      permission: create,
      resourcePath: compute,
    });
    expect({ allowed, rolePaths }).toEqual({
      allowed: false,
      rolePaths: ["/roles/provider", "/roles/admin", "/roles/owner"],
    });
    expect(granterPaths).toContain(`${system}/members/operator`);
  });

  test("a grant on the platform applies to all services", async () => {
    await bind("", "provider", runner.path);
    for (const path of [compute, storage, "/services/nosuchone"]) expect(await may(runner.path, path)).toBe(true);
    await runner.resourceTypes.createResourceType({ parentPath: storage, resourceType: typeNamed("disk") });
  });

  test("conditions see the path of the service and of its contents, with names", async () => {
    const condition = `resource.path == "${compute}/resourceTypes/disk"`;
    await bind(compute, "provider", runner.path, { condition });
    const { id } = await operator.resourceTypes.createResourceType({
      parentPath: compute,
      resourceType: typeNamed("disk"),
    });
    const byId = await idPathOf(compute);
    expect(await may(runner.path, `${compute}/resourceTypes/disk`)).toBe(true);
    expect(await may(runner.path, `${byId}/resourceTypes/disk`)).toBe(true);
    expect(await may(runner.path, compute)).toBe(false);
    // The snapshots do not contain the names of resource types.
    expect(await may(runner.path, `${compute}/resourceTypes/@${id}`)).toBe(false);
  });

  test("a condition that excludes a service is false for a list over all services", async () => {
    await bind("", "provider", runner.path, { condition: `!resource.path.startsWith("${storage}")` });
    expect(await may(runner.path, compute)).toBe(true);
    expect(await may(runner.path, storage)).toBe(false);
    expect(await may(runner.path, await idPathOf(storage))).toBe(false);
    await bind("", "viewer", runner.path, { condition: `!resource.path.startsWith("${storage}")` });
    const list = (parentPath: string) => runner.roleBindings.listRoleBindings({ parentPath });
    await list(compute);
    for (const parent of [storage, "services/-"]) expect(await failureOf(list(parent))).toMatchObject(denied);
  });

  test("a role on a service can be granted by members who hold it there, and only there", async () => {
    await bind(compute, "access-admin", runner.path);
    const other = await join();
    const exceeds = { ...denied, reason: "GRANT_EXCEEDS_OWN" };
    expect(await failureOf(bindAs(runner, compute, "provider", other.path))).toMatchObject(exceeds);
    await bind(compute, "provider", runner.path);
    const binding = await bindAs(runner, compute, "provider", other.path);
    expect(await failureOf(bindAs(runner, storage, "provider", other.path))).toMatchObject(denied);
    expect(await failureOf(bindAs(runner, compute, "editor", other.path))).toMatchObject(exceeds);
    const strong = await bind(compute, "admin", other.path);
    expect(await failureOf(runner.roleBindings.deleteRoleBinding({ path: strong }))).toMatchObject({
      reason: "REVOKE_EXCEEDS_OWN",
      metadata: { resource: await idPathOf(compute) },
    });
    await runner.roleBindings.deleteRoleBinding({ path: binding });
  });

  test("a preview lists what a provider would gain and lose on the service", async () => {
    const roleBinding = { name: "p", rolePath: "/roles/provider", subjectPath: runner.path };
    const request = { parentPath: compute, roleBinding };
    const { accessPreview } = await operator.roleBindings.createRoleBinding({ ...request, validateOnly: true });
    const held = [
      ...["claim", "complete", "fail", "report"].map((verb) => `resources.operations.${verb}`),
      ...["create", "delete", "update"].map((verb) => `resources.resourceTypes.${verb}`),
    ];
    const change = { memberPath: runner.path, resourcePath: compute, conditional: false };
    expect(accessPreview?.changes).toMatchObject([{ ...change, gainedPermissions: held, lostPermissions: [] }]);
    const { path } = await operator.roleBindings.createRoleBinding(request);
    const answer = await operator.roleBindings.deleteRoleBinding({ path, validateOnly: true });
    expect(answer.accessPreview?.changes).toMatchObject([{ ...change, gainedPermissions: [], lostPermissions: held }]);
  });

  test("deleting a service deletes the role bindings on it, each with an entry in the change log", async () => {
    const paths = [
      await bind(compute, "provider", runner.path),
      await bind(compute, "viewer", runner.path, { labels: { why: "audit" } }),
    ];
    const kept = await bind(storage, "provider", runner.path);
    const count = async () =>
      Number(
        (
          await sql.query(
            "select count from resource_counts join orgs on orgs.id = org_id and orgs.name = 'system' where resource_type = 'RoleBinding' and parent_id = org_id",
            [],
          )
        )[0]?.["count"],
      );
    const before = await count();
    await operator.services.deleteService({ path: compute });
    expect(await count()).toBe(before - 2);
    const removed = await sql.query(
      "select resource_path, before ->> 'scope_type' as scope, after from changes where resource_path = any($1) and before is not null",
      [paths],
    );
    expect(
      removed.toSorted(
        (one, other) => paths.indexOf(String(one["resource_path"])) - paths.indexOf(String(other["resource_path"])),
      ),
    ).toEqual(paths.map((path) => ({ resource_path: path, scope: "SERVICE", after: null })));
    expect(await sql.query("select from resource_labels where key = 'why'", [])).toEqual([]);
    await operator.services.createService({ service: { name: compute.split("/").at(-1) ?? "" } });
    expect(await may(runner.path, compute)).toBe(false);
    expect((await operator.roleBindings.listRoleBindings({ parentPath: compute })).roleBindings).toEqual([]);
    expect((await operator.roleBindings.getRoleBinding({ path: kept })).path).toBe(kept);
    expect(await may(runner.path, storage)).toBe(true);
  });
});
