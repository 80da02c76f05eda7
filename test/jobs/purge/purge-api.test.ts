// Tests what clients observe of the job, on a server that retains nothing and runs the job continuously.
import { randomUUID } from "node:crypto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Member_State } from "../../../gen/iam/v1alpha/member_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

let server: TestServer;
let api: Api;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100, retentionDays: 0 });
  api = createApi("gRPC", server.url, server.operatorKey);
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const createOrg = () => api.orgs.createOrg({ org: { name: uniqueName("purge") } });

/** Waits until the call fails with RESOURCE_NOT_FOUND. */
async function expectGone(call: () => Promise<unknown>): Promise<void> {
  const attempt = (): Promise<unknown> =>
    call().then(
      () => "found",
      async (error: unknown) => (await failureOf(Promise.reject(error))).reason,
    );
  await expect.poll(attempt).toBe("RESOURCE_NOT_FOUND");
}

const linesOf = (resourceId: string) =>
  sql.query("select method, resource_path, before, after from changes where resource_id = $1 order by revision", [
    resourceId,
  ]);

/** Lets what a statement changes end, as if its time had passed. */
async function endNow(databaseUrl: string, statement: string, id: string): Promise<void> {
  const client = await openSqlClient(databaseUrl);
  await client.query(statement, [id]);
  await client.close();
}

test("a purged member is not found by id, not listed, cannot be undeleted, and its key is invalid", async () => {
  const { path: parentPath } = await createOrg();
  const { path, id } = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  await api.groups.createGroup({ parentPath, group: { name: "staff" } });
  const membership = { parentPath: `${parentPath}/groups/staff`, groupMember: { memberPath: path } };
  await api.groupMembers.createGroupMember(membership);
  await api.members.deleteMember({ path });

  const byId = `${parentPath}/members/@${id}`;
  await expectGone(() => api.members.getMember({ path: byId }));
  await expectGone(() => api.members.getMember({ path }));
  expect((await failureOf(api.members.undeleteMember({ path: byId }))).reason).toBe("RESOURCE_NOT_FOUND");
  const listed = await api.members.listMembers({ parentPath, showDeleted: true });
  expect(listed.members).toEqual([]);
  const alone = createApi("Connect", server.url, secret);
  expect((await failureOf(alone.orgs.getOrg({ path: parentPath }))).reason).toBe("TOKEN_INVALID");
  expect((await linesOf(id)).at(-1)).toMatchObject({
    method: "tenantry/purge",
    resource_path: byId,
    before: { name: "alice" },
    after: null,
  });
  await api.members.createMember({ parentPath, member: { name: "alice" } });
});

test("a purged project is not found by id", async () => {
  const { path: parentPath } = await createOrg();
  const { path, id } = await api.projects.createProject({ parentPath, project: { name: "shop" } });
  await api.projects.deleteProject({ path });
  await expectGone(() => api.projects.getProject({ path: `${parentPath}/projects/@${id}` }));
});

test("a purged customer is removed with all its orgs, and their ids remain only in the change log", async () => {
  const first = await createOrg();
  const { customerPath } = first;
  const second = await api.orgs.createOrg({ org: { name: uniqueName("purge"), customerPath } });
  const { id: customerId } = await api.customers.getCustomer({ path: customerPath });
  for (const { path: parentPath } of [first, second]) {
    const { path } = await api.members.createMember({
      parentPath,
      member: { name: "bob", labels: { tier: "gold" } },
      requestId: randomUUID(),
    });
    await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
    await api.projects.createProject({ parentPath, project: { name: "shop" } });
    for (const name of ["staff", "all"]) await api.groups.createGroup({ parentPath, group: { name } });
    await api.groupMembers.createGroupMember({
      parentPath: `${parentPath}/groups/staff`,
      groupMember: { memberPath: path },
    });
    const groupPath = `${parentPath}/groups/staff`;
    await api.groupMembers.createSubgroup({ parentPath: `${parentPath}/groups/all`, subgroup: { groupPath } });
  }
  await api.customers.deleteCustomer({ path: customerPath });

  await expectGone(() => api.customers.getCustomer({ path: `/customers/@${customerId}` }));
  for (const { id } of [first, second]) {
    expect((await failureOf(api.orgs.getOrg({ path: `/orgs/@${id}` }))).reason).toBe("RESOURCE_NOT_FOUND");
    expect(await sql.tablesWith(id)).toEqual(["changes"]);
    expect(await linesOf(id)).toMatchObject([{ method: "tenantry/purge", resource_path: `/orgs/@${id}`, after: null }]);
  }
  expect((await linesOf(customerId)).at(-1)).toMatchObject({ method: "tenantry/purge", after: null });
  await api.orgs.createOrg({ org: { name: first.name } });
});

test("a member whose invitation expires is DELETED, frees the name, and cannot be undeleted", async () => {
  const keeping = await startTestServer({ purgeIntervalMs: 100 });
  const { orgs, members } = createApi("REST", keeping.url, keeping.operatorKey);
  try {
    const { path: parentPath } = await orgs.createOrg({ org: { name: "acme" } });
    const member = { name: "carol", invitationExpireTime: timestampFromMs(Date.now() + 600_000) };
    const { id, state } = await members.createMember({ parentPath, member });
    expect(state).toBe(Member_State.INVITED);
    await endNow(keeping.databaseUrl, "update members set invitation_expire_time = now() where id = $1", id);
    const path = `${parentPath}/members/@${id}`;
    await expect.poll(async () => (await members.getMember({ path })).state).toBe(Member_State.DELETED);
    const { id: other } = await members.createMember({ parentPath, member: { name: "carol" } });
    await members.deleteMember({ path: `${parentPath}/members/@${other}` });
    expect(await failureOf(members.undeleteMember({ path }))).toMatchObject({
      code: "FailedPrecondition",
      reason: "STATE_FORBIDS",
      message: expect.stringMatching(/invitation_expire_time: create another Member instead$/),
      metadata: { state: "DELETED" },
    });
    expect((await members.getMember({ path })).state).toBe(Member_State.DELETED);
  } finally {
    await keeping.close();
  }
});

test("an expired membership is recorded in the change log", async () => {
  const { path: parentPath } = await createOrg();
  const { path: memberPath, id } = await api.members.createMember({ parentPath, member: { name: "dave" } });
  const group = await api.groups.createGroup({ parentPath, group: { name: "staff" } });
  const groupMember = { memberPath, expireTime: timestampFromMs(Date.now() + 600_000) };
  const { path } = await api.groupMembers.createGroupMember({ parentPath: group.path, groupMember });
  await endNow(server.databaseUrl, "update group_members set expire_time = now() where member_id = $1", id);
  const last = async () => (await linesOf(id)).at(-1);
  await expect.poll(last).toMatchObject({
    method: "tenantry/purge",
    resource_path: path,
    before: { group_id: group.id, member_id: id },
    after: null,
  });
});

test("the server logs what it removed, and no errors", () => {
  const lines = server.logLines.map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(lines.filter(({ msg }) => msg === "purged resources").length).toBeGreaterThan(2);
  expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
});
