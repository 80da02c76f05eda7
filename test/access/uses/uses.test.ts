// Tests what of an org the calls over a server use, as it is in the database after the server has stopped.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import { Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { createApi } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { issuer, startTestServer } from "../../support/test-server.ts";
import { createTransport } from "../../support/transports.ts";
import { callsOf, newPkce, openConsent } from "../../api/consent.ts";
import { type Caller, type Company, openCompany } from "../callers.ts";

let server: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(() => sql.close());

/** Makes calls to a server of its own, and returns after it has stopped. */
async function onOtherServer(run: (as: (caller: Caller | "operator") => Caller) => Promise<void>): Promise<void> {
  const { databaseUrl, secretKeysFile } = server;
  const other = await startTestServer({ issuer, databaseUrl, secretKeysFile });
  try {
    await run((caller) => {
      const key = caller === "operator" ? server.operatorKey : caller.key;
      const path = caller === "operator" ? "" : caller.path;
      const access = createClient(AccessService, createTransport("gRPC", other.url, key));
      return { ...createApi("gRPC", other.url, key), access, key, path };
    });
  } finally {
    await other.close();
  }
}

/** Returns what was used in an org besides members, by names: `binding`, `role permission` or `inner > outer`. */
async function usesIn({ org }: Company): Promise<readonly string[]> {
  const rows = await sql.query(
    `select coalesce(role_bindings.name, clients.name, roles.name || ' ' || part, coalesce(members.name, inner_groups.name) || ' > ' || groups.name) as name,
      last_day = date_trunc('day', now(), 'UTC') as is_today
    from access_uses as uses
    left join role_bindings on role_bindings.id = used_id
    left join roles on roles.id = used_id
    left join clients on clients.id = used_id
    left join members on members.id = used_id
    left join groups as inner_groups on inner_groups.id = used_id
    left join groups on groups.id::text = part
    where uses.org_id = $1 and (members.id is null or part <> '')`,
    [org.id],
  );
  expect(rows.every((row) => row["is_today"] === true)).toBe(true);
  return rows.map((row) => String(row["name"])).toSorted();
}

/** A member in a group in a group with a role on a project, which has two permissions. */
async function furnish() {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  const name = (path: string): string => required(path.split("/").at(-1));
  const bindAs = async (bindingName: string, scope: string, rolePath: string, subjectPath: string) =>
    api.roleBindings.createRoleBinding({
      parentPath: scope,
      roleBinding: { name: bindingName, rolePath, subjectPath },
    });
  const role = async (roleName: string, permissions: string[]): Promise<string> =>
    (await api.roles.createRole({ parentPath, role: { name: roleName, permissions } })).path;
  const { path: project } = await api.projects.createProject({ parentPath, project: { name: "web" } });
  const alice = await company.join("alice");
  for (const group of ["inner", "outer", "other"]) await api.groups.createGroup({ parentPath, group: { name: group } });
  const groupAt = (group: string): string => `${parentPath}/groups/${group}`;
  for (const group of ["inner", "other"]) {
    await api.groupMembers.createGroupMember({ parentPath: groupAt(group), groupMember: { memberPath: alice.path } });
  }
  await api.groupMembers.createSubgroup({ parentPath: groupAt("outer"), subgroup: { groupPath: groupAt("inner") } });
  const starter = await role("starter", ["compute.instances.start", "compute.instances.stop"]);
  await bindAs("outer-starts", project, starter, groupAt("outer"));
  await bindAs("alice-views", parentPath, "/roles/viewer", alice.path);
  return { company, api, parentPath, project, alice, role, bindAs, name };
}

test("a call uses what gives its permission, and so does a check of somebody else, but no question of what would be allowed", async () => {
  const { company, parentPath, project, alice } = await furnish();
  const subjectPath = alice.path;
  const start = { subjectPath, permission: "compute.instances.start", resourcePath: `${project}/instances/one` };
  const stop = { ...start, permission: "compute.instances.stop" };
  const asOf = { asOfTime: timestampFromMs(Date.now()) };
  await onOtherServer(async (as) => {
    const { access } = as("operator");
    expect(await access.checkAccess({ ...start, resourcePath: `${parentPath}/elsewhere/one` })).toMatchObject({
      allowed: false,
    });
    expect(await access.checkAccess({ ...stop, ...asOf })).toMatchObject({ allowed: true });
    expect(await access.explainAccess(stop)).toMatchObject({ allowed: true });
    expect((await access.listSubjects({ permission: stop.permission, resourcePath: project })).subjectPaths).toEqual([
      alice.path,
    ]);
    const { permission } = stop;
    expect((await access.listResources({ subjectPath, permission, parentPath })).resourcePaths).toEqual([project]);
    const own = as(alice).access;
    const asked = { resourcePath: project, permissions: [stop.permission] };
    expect((await own.testPermissions(asked)).permissions).toEqual(asked.permissions);
  });
  expect(await usesIn(company)).toEqual([]);
  await onOtherServer(async (as) => {
    expect(await as("operator").access.batchCheckAccess({ checks: [start] })).toMatchObject({
      results: [{ allowed: true }],
    });
  });
  const ofStart = ["alice > inner", "inner > outer", "outer-starts", "starter compute.instances.start"];
  expect(await usesIn(company)).toEqual(ofStart);
  await onOtherServer(async (as) => {
    await as(alice).members.listMembers({ parentPath });
    expect(await failureOf(as(alice).projects.deleteProject({ path: project }))).toMatchObject({
      code: "PermissionDenied",
    });
  });
  expect(await usesIn(company)).toEqual(["alice > inner", "alice-views", ...ofStart.slice(1)].toSorted());
});

test("what is needed besides counts as well: to see what is suspended, and of who impersonates somebody", async () => {
  const { company, api, parentPath, project, role, bindAs } = await furnish();
  const reader = await role("reader", ["iam.roleBindings.list", "iam.members.impersonate"]);
  const lifter = await role("lifter", ["iam.projects.activate"]);
  const bob = await company.join("bob");
  const member = { name: "robot", type: Member_Type.APPLICATION };
  const { path: robot } = await api.members.createMember({ parentPath, member });
  for (const [who, path] of [
    ["bob", bob.path],
    ["robot", robot],
  ] as const) {
    await bindAs(`${who}-reads`, parentPath, reader, path);
    await bindAs(`${who}-lifts`, parentPath, lifter, path);
  }
  await api.projects.suspendProject({ path: project });
  await onOtherServer(async (as) => {
    const { accessToken } = await as(bob).members.impersonateMember({ path: robot });
    const bobAsRobot = as({ ...bob, key: accessToken });
    await bobAsRobot.roleBindings.listRoleBindings({ parentPath: project });
  });
  expect(await usesIn(company)).toEqual([
    "bob-lifts",
    "bob-reads",
    "lifter iam.projects.activate",
    "reader iam.members.impersonate",
    "reader iam.roleBindings.list",
    "robot-lifts",
    "robot-reads",
  ]);
});

test("a question about somebody in a suspended org uses what lets the caller lift that, also if it is about something elsewhere", async () => {
  const { company, api, parentPath, alice, role, bindAs } = await furnish();
  const bob = await company.join("bob");
  const { customerPath } = company.org;
  await bindAs("bob-checks", customerPath, "/roles/viewer", bob.path);
  await bindAs("bob-lifts", parentPath, await role("lifter", ["iam.orgs.activate"]), bob.path);
  await api.orgs.suspendOrg({ path: parentPath });
  await onOtherServer(async (as) => {
    const check = { subjectPath: alice.path, permission: "iam.customers.get", resourcePath: customerPath };
    expect(await as(bob).access.checkAccess(check)).toMatchObject({ allowed: false });
  });
  expect(await usesIn(company)).toEqual(["bob-lifts", "lifter iam.orgs.activate"]);
});

test("a list through `-` uses what lets the caller see what is suspended", async () => {
  const { company, parentPath, role, bindAs } = await furnish();
  const bob = await company.join("bob");
  await bindAs("bob-reads", parentPath, await role("reader", ["iam.roleBindings.list"]), bob.path);
  const permissions = ["iam.projects.activate", "iam.orgs.activate"];
  await bindAs("bob-lifts", parentPath, await role("lifter", permissions), bob.path);
  await onOtherServer(async (as) => {
    await as(bob).roleBindings.listRoleBindings({ parentPath: `${parentPath}/projects/-` });
  });
  const inOrg = ["bob-lifts", "bob-reads", "lifter iam.projects.activate", "reader iam.roleBindings.list"];
  expect(await usesIn(company)).toEqual(inOrg);
  await onOtherServer(async (as) => {
    await as(bob).roleBindings.listRoleBindings({ parentPath: "/orgs/-/projects/-" });
  });
  expect(await usesIn(company)).toEqual([...inOrg, "lifter iam.orgs.activate"].toSorted());
});

test("a token that is issued for a client uses it", async () => {
  const { databaseUrl, secretKeysFile } = server;
  const other = await startTestServer({ issuer, databaseUrl, secretKeysFile });
  const api = createApi("gRPC", server.url, server.operatorKey);
  const consent = await openConsent({ servers: [server, other], api, secretKeysFile });
  const { newCode, redeem } = callsOf(() => consent);
  const used = () => sql.query("select part from access_uses where used_id = $1", [consent.client.id]);
  try {
    const pkce = newPkce();
    const code = await newCode(pkce);
    expect(await used()).toEqual([]);
    expect((await redeem(code, pkce, {}, 1)).status).toBe(200);
  } finally {
    await consent.close();
    await other.close();
  }
  expect(await used()).toEqual([{ part: "" }]);
});
