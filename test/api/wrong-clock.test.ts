// A server whose clock is wrong decides by that of the database, as all servers do.
import { createClient } from "@connectrpc/connect";
import { type Timestamp, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { registry } from "../../src/resource-registry.ts";
import { required } from "../../src/errors/required.ts";
import { isOutputOnly } from "../../src/validation/field-behavior.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { createTokenMember } from "../support/token-servers.ts";
import { openWorkplace } from "../support/workplace.ts";
import { writtenResources } from "../support/written-resources.ts";

let server: SharedServer;
let api: Api;
/** As a member of the org. */
let asking: Api;
let org: { readonly path: string; readonly customerPath: string };
let subjectPath: string;

beforeAll(async () => {
  server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  subjectPath = (await api.members.createMember({ parentPath: org.path, member: { name: "holder" } })).path;
  const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "own" } });
  asking = createApi("gRPC", server.url, secret);
});

afterEach(() => {
  vi.useRealTimers();
});

const minuteMs = 60_000;

/** Sets the clock of the server, which is in this process. */
function setClock(minutesAhead: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: realTime(minutesAhead) });
}

/** The clock of the database is that of this machine. */
const realTime = (minutesAhead: number): Date =>
  new Date(performance.timeOrigin + performance.now() + minutesAhead * minuteMs);

/** The writes that take a time at which something ends, by the field of the resource. */
const endings: Readonly<Record<string, (time: Timestamp) => Promise<unknown>>> = {
  "Member.invitation_expire_time": (invitationExpireTime) =>
    api.members.createMember({ parentPath: org.path, member: { name: uniqueName("guest"), invitationExpireTime } }),
  "ApiKey.expire_time": (expireTime) =>
    api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: uniqueName("key"), expireTime } }),
  "AccessRequest.expire_time": async (expireTime) => {
    const parentPath = org.path;
    const accessRequest = { rolePath: "/roles/viewer", resourcePath: parentPath, reason: "on call", expireTime };
    await asking.accessRequests.createAccessRequest({ parentPath, accessRequest });
  },
  "GroupMember.expire_time": async (expireTime) => {
    const { path } = await api.groups.createGroup({ parentPath: org.path, group: { name: uniqueName("group") } });
    const member = { parentPath: path, groupMember: { memberPath: subjectPath } };
    const { path: membership } = await api.groupMembers.createGroupMember(member);
    await api.groupMembers.updateGroupMember({ path: membership, groupMember: { expireTime } });
    await api.groupMembers.deleteGroupMember({ path: membership });
    await api.groupMembers.createGroupMember({ ...member, groupMember: { ...member.groupMember, expireTime } });
  },
  "RoleBinding.expire_time": async (expireTime) => {
    const roleBinding = { name: uniqueName("bound"), rolePath: "/roles/viewer", subjectPath };
    const { path } = await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
    await api.roleBindings.updateRoleBinding({ path, roleBinding: { expireTime } });
    const other = { ...roleBinding, name: uniqueName("bound"), expireTime };
    await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding: other });
  },
};

test("there is a write for each field with a time at which a resource ends", () => {
  const fields = registry.definitions.flatMap(({ type, schema }) =>
    schema.fields
      .filter((field) => field.name.endsWith("expire_time") && !isOutputOnly(field))
      .map(({ name }) => `${type}.${name}`),
  );
  expect(fields.toSorted()).toEqual(Object.keys(endings).toSorted());
});

describe.each(Object.entries(endings))("%s", (_field, write) => {
  test("in the future is accepted by a server whose clock is an hour ahead", async () => {
    const time = timestampFromDate(realTime(30));
    setClock(60);
    await write(time);
  });

  test("in the past is refused by a server whose clock is an hour behind", async () => {
    const time = timestampFromDate(realTime(-30));
    setClock(-60);
    expect(await failureOf(write(time))).toMatchObject({ code: "InvalidArgument" });
  });
});

test("an API key is rotated to one that ends in the future", async () => {
  const { path } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: uniqueName("old") } });
  const name = uniqueName("rotated");
  const [past, future] = [-30, 30].map((minutes) => timestampFromDate(realTime(minutes)));
  setClock(60);
  await api.apiKeys.rotateApiKey({ path, name, expireTime: future });
  setClock(-60);
  expect(await failureOf(api.apiKeys.rotateApiKey({ path, name: `${name}x`, expireTime: past }))).toMatchObject({
    code: "InvalidArgument",
  });
});

describe("an invitation", () => {
  const invite = async () => {
    const member = { name: uniqueName("guest"), invitationExpireTime: timestampFromDate(realTime(30)) };
    return api.members.createMember({ parentPath: org.path, member });
  };

  test("is accepted until it ends, by a server whose clock is an hour ahead", async () => {
    const { path } = await invite();
    setClock(60);
    await api.members.activateMember({ path });
  });

  test("is refused when it has ended, by a server whose clock is an hour behind", async () => {
    const { path, id } = await invite();
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update members set invitation_expire_time = now() - interval '30 minutes' where id = $1", [id]);
    await sql.close();
    setClock(-60);
    expect(await failureOf(api.members.activateMember({ path }))).toMatchObject({ reason: "STATE_FORBIDS" });
  });
});

/** Returns the time in a UUID of version 7, in milliseconds. */
const timeIn = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

/** The times of rows are rounded to milliseconds. */
function expectTimeOfWrite({ id, createTime }: { readonly id: string; readonly createTime?: unknown }): void {
  expect(Math.abs(timeIn(id) - timestampMs(createTime as Timestamp))).toBeLessThanOrEqual(1);
}

const cases = writtenResources
  // A link has the id of another resource.
  .filter(({ standsFor }) => standsFor === undefined)
  .map((resource) => ({ name: resource.name, resource }));

describe.each(cases)("$name", ({ resource }) => {
  test("have ids with the time of the write, whatever the clock of the server", async () => {
    const place = await openWorkplace(resource, api, org);
    for (const minutesAhead of [60, -60]) {
      setClock(minutesAhead);
      const item = await place.create(uniqueName("item"));
      expectTimeOfWrite(item);
    }
  });
});

test("operations and sessions have ids with the time at which they were started", async () => {
  const place = await openWorkplace(required(writtenResources.find(({ type }) => type === "Resource")), api, org);
  const { path: parentPath, key } = await createTokenMember(api, org.path);
  const headers = { authorization: `Bearer ${key}` };
  setClock(60);
  const operation = await place.startCreate(uniqueName("item"));
  await createClient(TokensService, api.transport).issueToken({ startSession: true }, { headers });
  const { sessions } = await api.sessions.listSessions({ parentPath });
  for (const started of [operation, required(sessions[0])]) expectTimeOfWrite(started);
});

describe("what ends while a write waits for the lock of its org has ended for the write", () => {
  /** Lets a row end while a write waits. Returns what the write does. */
  async function endMeanwhile<Answer>(table: string, id: string, write: () => Promise<Answer>): Promise<Answer> {
    const [holder, watcher] = await Promise.all([openSqlClient(server.databaseUrl), openSqlClient(server.databaseUrl)]);
    onTestFinished(() => holder.close());
    onTestFinished(() => watcher.close());
    const { id: orgId } = await api.orgs.getOrg({ path: org.path });
    await holder.query("begin");
    await holder.query("select from orgs where id = $1 for update", [orgId]);
    const written = write();
    const settled = written.catch(() => {});
    const waiting = `select from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database() and query like '%for no key update%'`;
    await expect.poll(() => watcher.query(waiting)).toHaveLength(1);
    // Writes know their time to the millisecond: what ends later in the one of the lock has not ended for them.
    await holder.query(`update ${table} set expire_time = date_trunc('milliseconds', clock_timestamp()) where ${id}`);
    await holder.query("commit");
    await settled;
    return written;
  }

  test("a membership is replaced", async () => {
    const { path: parentPath, id } = await api.groups.createGroup({ parentPath: org.path, group: { name: "waiting" } });
    const request = { parentPath, groupMember: { memberPath: subjectPath } };
    await api.groupMembers.createGroupMember(request);
    await endMeanwhile("group_members", `group_id = '${id}'`, () => api.groupMembers.createGroupMember(request));
    expect((await api.groupMembers.listGroupMembers({ parentPath })).members).toHaveLength(1);
  });

  test("a role binding is not there, so that it cannot be extended", async () => {
    const roleBinding = { name: "waiting", rolePath: "/roles/viewer", subjectPath };
    const { path, id } = await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
    const extended = endMeanwhile("role_bindings", `id = '${id}'`, () =>
      api.roleBindings.updateRoleBinding({ path, roleBinding: { description: "extended" } }),
    );
    expect(await failureOf(extended)).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });
});
