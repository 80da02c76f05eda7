// Tests that what ends by itself is an entry of the log when it ends, and not when the next run of the job comes.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, test } from "vitest";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Member_State } from "../../../gen/iam/v1alpha/member_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { createBeforeEnd } from "../../support/create-before-end.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

/** No run comes while a test runs, but for those that follow an end. */
const purgeIntervalMs = 3_000_000;

let server: TestServer;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs });
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(() => server.close());

/** Creates something of each kind that ends soon, in an org of its own. Returns the path of the org. */
async function createEnding(on: Api, expireTime: Timestamp): Promise<string> {
  const { path: parentPath } = await on.orgs.createOrg({ org: { name: uniqueName("ending") } });
  const member = await on.members.createMember({ parentPath, member: { name: "alice" } });
  const group = await on.groups.createGroup({ parentPath, group: { name: "devs" } });
  await on.groupMembers.createGroupMember({
    parentPath: group.path,
    groupMember: { memberPath: member.path, expireTime },
  });
  await on.roleBindings.createRoleBinding({
    parentPath,
    roleBinding: { name: "short", rolePath: "/roles/viewer", subjectPath: member.path, expireTime },
  });
  await on.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "short", expireTime } });
  await on.members.createMember({
    parentPath,
    member: { name: "invited", state: Member_State.INVITED, invitationExpireTime: expireTime },
  });
  return parentPath;
}

const expired = async (on: Api, parentPath: string): Promise<string[]> => {
  const { changes } = await on.changes.listChanges({ parentPath, filter: "type = EXPIRED" });
  return changes.map(({ resourceType }) => resourceType).toSorted();
};

const kinds = ["ApiKey", "GroupMember", "Member", "RoleBinding"];

// These wait for their ends beside each other.
test.concurrent("a membership, a role binding, a key and an invitation are entries when they end, with the time of their end", async ({
  expect: expectHere,
}) => {
  const { created: parentPath } = await createBeforeEnd((end) => createEnding(api, end));
  await expectHere.poll(() => expired(api, parentPath)).toEqual(kinds);
  const { changes } = await api.changes.listChanges({ parentPath, filter: "type = EXPIRED" });
  for (const change of changes) {
    expectHere(change).toMatchObject({ method: "tenantry/purge", actorPath: "", type: Change_Type.EXPIRED });
    const [end, time] = [change.endTime?.seconds ?? 0n, change.time?.seconds ?? 0n];
    expectHere(end).toBeGreaterThan(0n);
    expectHere(time).toBeGreaterThanOrEqual(end);
  }
});

test.concurrent("a server that has started knows what ends from the database", async ({
  expect: expectHere,
  onTestFinished: onFinished,
}) => {
  const idle = await startTestServer();
  onFinished(() => idle.close());
  const other = createApi("gRPC", idle.url, idle.operatorKey);
  const { created: parentPath } = await createBeforeEnd(async (end) => {
    const path = await createEnding(other, end);
    const started = await startTestServer({ purgeIntervalMs, databaseUrl: idle.databaseUrl });
    onFinished(() => started.close());
    return path;
  });
  await expectHere.poll(() => expired(other, parentPath)).toEqual(kinds);
});

test.concurrent("a server that looks meanwhile knows what another one has written", async ({
  expect: expectHere,
  onTestFinished: onFinished,
}) => {
  const writer = await startTestServer();
  onFinished(() => writer.close());
  const other = await startTestServer({ purgeIntervalMs: 500, databaseUrl: writer.databaseUrl });
  onFinished(() => other.close());
  const onWriter = createApi("gRPC", writer.url, writer.operatorKey);
  const { created: parentPath } = await createBeforeEnd((end) => createEnding(onWriter, end));
  await expectHere.poll(() => expired(onWriter, parentPath)).toEqual(kinds);
});
