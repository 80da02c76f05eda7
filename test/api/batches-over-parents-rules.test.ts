// Tests the rules of group members, subgroups and role bindings for batches in several parents of one org.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createOrgCast } from "../access/org-cast.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

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

const api = () => createApi("gRPC", server.url, server.operatorKey);

describe("group members", () => {
  let org: string;
  let groups: string[];
  beforeEach(async () => {
    const { path: parentPath } = await api().orgs.createOrg({ org: { name: uniqueName("acme") } });
    org = parentPath;
    const requests = ["a", "b", "c"].map((name) => ({ group: { name } }));
    groups = (await api().groups.batchCreateGroups({ parentPath, requests })).groups.map(({ path }) => path);
  });
  const nest = (pairs: readonly (readonly [number, number])[]) =>
    api().groupMembers.batchCreateSubgroups({
      parentPath: `${org}/groups/-`,
      requests: pairs.map(([group, subgroup]) => ({
        parentPath: groups[group] ?? "",
        subgroup: { groupPath: groups[subgroup] ?? "" },
      })),
    });

  test("a batch can have 1000 in all, and no more", async () => {
    const names = Array.from({ length: 501 }, (_, index) => `m${index}`);
    await api().members.batchCreateMembers({ parentPath: org, requests: names.map((name) => ({ member: { name } })) });
    const requests = groups
      .slice(0, 2)
      .flatMap((parentPath) =>
        names.map((name) => ({ parentPath, groupMember: { memberPath: `${org}/members/${name}` } })),
      );
    const parentPath = `${org}/groups/-`;
    expect(await failureOf(api().groupMembers.batchCreateGroupMembers({ parentPath, requests }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["requests"],
    });
    const { members } = await api().groupMembers.batchCreateGroupMembers({
      parentPath,
      requests: requests.slice(0, 1000),
    });
    expect(members).toHaveLength(1000);
  });

  test("groups that a batch would nest in each other are refused at the item that closes the circle", async () => {
    const before = await sql.summarise();
    expect(
      await failureOf(
        nest([
          [0, 1],
          [1, 2],
          [2, 0],
        ]),
      ),
    ).toMatchObject({
      reason: "SUBGROUP_CYCLE",
      metadata: { index: "2" },
    });
    await expect(
      nest([
        [1, 2],
        [0, 1],
        [0, 2],
      ]),
    ).resolves.toBeDefined();
    expect(await sql.summarise()).not.toEqual(before);
    expect(await failureOf(nest([[2, 0]]))).toMatchObject({ reason: "SUBGROUP_CYCLE", metadata: { index: "0" } });
  });

  test("the preview tells of the access through all groups", async () => {
    const { path: bob } = await api().members.createMember({ parentPath: org, member: { name: "bob" } });
    for (const [index, rolePath] of ["/roles/viewer", "/roles/editor"].entries()) {
      const roleBinding = { name: `g${index}`, subjectPath: groups[index] ?? "", rolePath };
      await api().roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    }
    const requests = groups.slice(0, 2).map((parentPath) => ({ parentPath, groupMember: { memberPath: bob } }));
    const { accessPreview } = await api().groupMembers.batchCreateGroupMembers({
      parentPath: `${org}/groups/-`,
      requests,
      validateOnly: true,
    });
    expect(
      JSON.stringify(accessPreview, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    ).toContain(bob);
  });
});

describe("role bindings on projects", () => {
  test("are refused in suspended and deleted projects, at the item", async () => {
    const cast = await createOrgCast("gRPC", server);
    const [web, suspended, gone] = [
      await cast.project("web"),
      await cast.project("suspended"),
      await cast.project("gone"),
    ];
    await api().projects.suspendProject({ path: suspended });
    const { id } = await api().projects.deleteProject({ path: gone });
    const bob = (await cast.member("bob")).path;
    const roleBinding = { name: "b", subjectPath: bob, rolePath: "/roles/viewer" };
    const before = await sql.summarise();
    for (const parentPath of [suspended, gone.replace(/[^/]+$/, `@${id}`)]) {
      const single = await failureOf(api().roleBindings.createRoleBinding({ parentPath, roleBinding }));
      const requests = [web, parentPath].map((path) => ({ parentPath: path, roleBinding }));
      const failure = await failureOf(
        api().roleBindings.batchCreateRoleBindings({ parentPath: `${cast.org.path}/projects/-`, requests }),
      );
      expect(failure).toMatchObject({ code: single.code, reason: single.reason, message: single.message });
      expect(failure.metadata["index"]).toBe("1");
    }
    expect(await sql.summarise()).toEqual(before);
    // Who may not lift the suspension is denied, as by a single Create.
    const granter = await cast.role("granter", "iam.roleBindings.create", "iam.roleBindings.get");
    const carol = await cast.member("carol", granter);
    const requests = [web, suspended].map((path) => ({
      parentPath: path,
      roleBinding: { ...roleBinding, rolePath: granter },
    }));
    expect(
      await failureOf(
        carol.api.roleBindings.batchCreateRoleBindings({ parentPath: `${cast.org.path}/projects/-`, requests }),
      ),
    ).toMatchObject({ code: "PermissionDenied", metadata: { index: "1" } });
  });

  test("names the first item at fault, of whatever kind", async () => {
    const cast = await createOrgCast("gRPC", server);
    const [web, shop] = [await cast.project("web"), await cast.project("shop")];
    const bob = (await cast.member("bob")).path;
    const admin = await cast.member("adam", "/roles/admin");
    const binding = (rolePath: string, subjectPath: string) => ({ name: uniqueName("b"), subjectPath, rolePath });
    const fine = (parentPath: string) => ({ parentPath, roleBinding: binding("/roles/viewer", bob) });
    const tooMuch = { parentPath: shop, roleBinding: binding("/roles/owner", bob) };
    const nobody = { parentPath: web, roleBinding: binding("/roles/viewer", `${cast.org.path}/members/nobody`) };
    const create = (requests: object[]) =>
      admin.api.roleBindings.batchCreateRoleBindings({ parentPath: `${cast.org.path}/projects/-`, requests });
    const first = await failureOf(create([fine(web), fine(shop), tooMuch, fine(web), nobody]));
    expect(first).toMatchObject({ reason: "GRANT_EXCEEDS_OWN", metadata: { index: "2" } });
    const second = await failureOf(create([fine(web), nobody, fine(shop), tooMuch]));
    expect(second).toMatchObject({ reason: "RESOURCE_NOT_FOUND", metadata: { index: "1" } });
    const { roleBindings } = await create([fine(web), fine(shop)]);
    expect(roleBindings).toHaveLength(2);
  });

  test("count conditions on each project for itself", async () => {
    const cast = await createOrgCast("gRPC", server);
    const [web, shop] = [await cast.project("web"), await cast.project("shop")];
    const bob = (await cast.member("bob")).path;
    const conditional = (parentPath: string, count: number) =>
      Array.from({ length: count }, () => ({
        parentPath,
        roleBinding: { name: uniqueName("b"), subjectPath: bob, rolePath: "/roles/viewer", condition: "true" },
      }));
    const create = (requests: object[]) =>
      api().roleBindings.batchCreateRoleBindings({ parentPath: `${cast.org.path}/projects/-`, requests });
    await create([...conditional(web, 60), ...conditional(shop, 60)]);
    expect(await failureOf(create([...conditional(web, 39), ...conditional(shop, 41)]))).toMatchObject({
      reason: "LIMIT_EXCEEDED",
      metadata: { index: "79" },
    });
    await create([...conditional(web, 40), ...conditional(shop, 40)]);
  });

  test("replace expired ones of their names, in their projects only", async () => {
    const cast = await createOrgCast("gRPC", server);
    const projects = [await cast.project("web"), await cast.project("shop")];
    const bob = (await cast.member("bob")).path;
    const roleBinding = { name: "temporary", subjectPath: bob, rolePath: "/roles/viewer" };
    const parentPath = `${cast.org.path}/projects/-`;
    const requests = projects.map((path) => ({ parentPath: path, roleBinding }));
    await api().roleBindings.batchCreateRoleBindings({ parentPath, requests });
    await sql.query(
      "update role_bindings set expire_time = now() - interval '1 day' where project_id = (select id from projects where name = 'web' and org_id = $1)",
      [cast.org.id],
    );
    expect(await failureOf(api().roleBindings.batchCreateRoleBindings({ parentPath, requests }))).toMatchObject({
      code: "AlreadyExists",
      metadata: { index: "1" },
    });
    await api().roleBindings.batchCreateRoleBindings({ parentPath, requests: requests.slice(0, 1) });
  });
});
