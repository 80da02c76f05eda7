// Tests how long calls wait for operations, and that who waits for one gets it only with the permission to read it then.
import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import { required } from "../../src/errors/required.ts";
import { poll } from "../../src/resources/poll.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

let cloud: Cloud;
let viewer: ResourcesApi;
let binding: string;
let operation: Operation;
beforeEach(async () => {
  cloud = await openCloud("gRPC", server.url, server.operatorKey);
  const { api, org: parentPath } = cloud;
  const { path: subjectPath } = await api.members.createMember({ parentPath, member: { name: "viewer" } });
  const roleBinding = { name: "viewer", rolePath: "/roles/viewer", subjectPath };
  binding = (await api.roleBindings.createRoleBinding({ parentPath, roleBinding })).path;
  const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "ci" } });
  viewer = createResourcesApi("gRPC", server.url, required(secret));
  operation = await cloud.create("db");
});

/** Waits for the operation, which is completed after a change. */
async function waitDuring(change: () => Promise<unknown>, { operations }: ResourcesApi = viewer): Promise<Operation> {
  const waited = operations.waitOperation({ path: operation.path, timeout: { seconds: 20n } });
  waited.catch(() => {});
  // Until it has been read.
  await sleep(300);
  await change();
  await cloud.complete();
  return waited;
}

test("an operation is returned when it ends", async () => {
  expect(await waitDuring(() => Promise.resolve())).toMatchObject({ path: operation.path, done: true });
});

test.each<[string, () => Promise<unknown>]>([
  ["its project is suspended", () => cloud.api.projects.suspendProject({ path: cloud.project })],
  ["its org is suspended", () => cloud.api.orgs.suspendOrg({ path: cloud.org })],
  ["the caller loses its role", () => cloud.api.roleBindings.deleteRoleBinding({ path: binding })],
])("an operation is not returned if %s meanwhile", async (_what, change) => {
  expect(await failureOf(waitDuring(change))).toMatchObject({ reason: "PERMISSION_DENIED" });
});

test("an operation in a project that is suspended meanwhile is returned to a caller who may lift that", async () => {
  const suspend = () => cloud.api.projects.suspendProject({ path: cloud.project });
  expect(await waitDuring(suspend, cloud)).toMatchObject({ path: operation.path, done: true });
});

test("an operation in a suspended project is not returned through - to a caller who has lost the permission to lift that meanwhile", async () => {
  const { api, operations } = cloud;
  const { path: subjectPath } = await api.members.createMember({
    parentPath: "/orgs/system",
    member: { name: uniqueName("lifter") },
  });
  const bind = (role: string) =>
    api.roleBindings.createRoleBinding({
      roleBinding: { name: uniqueName("b"), rolePath: `/roles/${role}`, subjectPath },
    });
  await bind("viewer");
  const lifting = await bind("projects-admin");
  const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "ci" } });
  const lifter = createResourcesApi("gRPC", server.url, required(secret));
  await api.projects.suspendProject({ path: cloud.project });
  const path = `/orgs/-/projects/-/operations/${operation.path.split("/").at(-1)}`;
  expect(await lifter.operations.getOperation({ path })).toMatchObject({ path: operation.path });
  const waited = lifter.operations.waitOperation({ path, timeout: { seconds: 20n } });
  waited.catch(() => {});
  await sleep(300);
  await api.roleBindings.deleteRoleBinding({ path: lifting.path });
  await cloud.complete();
  expect(await failureOf(waited)).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  expect(await operations.getOperation({ path: operation.path })).toMatchObject({ done: true });
});

describe("a provider that waits for operations", () => {
  const join = async () => {
    const { api, servicePath } = cloud;
    const member = await api.members.createMember({
      parentPath: "/orgs/system",
      member: { name: uniqueName("provider"), type: 2 },
    });
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/provider", subjectPath: member.path };
    const bound = await api.roleBindings.createRoleBinding({ parentPath: servicePath, roleBinding });
    const key = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "ci" } });
    return { member: member.path, bound: bound.path, key };
  };
  type Joined = Awaited<ReturnType<typeof join>>;

  test.each<[string, string | undefined, (joined: Joined) => Promise<unknown>]>([
    ["claims one that is started meanwhile", undefined, () => Promise.resolve()],
    [
      "claims none once its key is deleted",
      "TOKEN_INVALID",
      ({ key }) => cloud.api.apiKeys.deleteApiKey({ path: key.path }),
    ],
    [
      "claims none once it has lost its role",
      "PERMISSION_DENIED",
      ({ bound }) => cloud.api.roleBindings.deleteRoleBinding({ path: bound }),
    ],
    [
      "claims none once it is suspended",
      "TOKEN_INVALID",
      ({ member }) => cloud.api.members.suspendMember({ path: member }),
    ],
  ])("%s", async (_what, reason, change) => {
    await cloud.complete();
    const joined = await join();
    const { provider } = createResourcesApi("gRPC", server.url, required(joined.key.secret));
    const claiming = provider.claimOperations({ servicePath: cloud.servicePath, wait: { seconds: 20n } });
    claiming.catch(() => {});
    await sleep(300);
    await change(joined);
    const { path } = await cloud.create("other");
    if (reason === undefined) expect((await claiming).claims).toMatchObject([{ operation: { path } }]);
    else expect(await failureOf(claiming)).toMatchObject({ reason });
  });
});

const passedMs = async (wait: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await wait();
  return performance.now() - start;
};

describe.each<[string, (waitMs: number, signal: AbortSignal) => Promise<unknown>]>([
  [
    "WaitOperation",
    (waitMs, signal) =>
      cloud.operations.waitOperation({ path: operation.path, timeout: durationFromMs(waitMs) }, { signal }),
  ],
  [
    "ClaimOperations",
    (waitMs, signal) => {
      const { servicePath, provider } = cloud;
      return provider.claimOperations({ servicePath, verbs: ["start"], wait: durationFromMs(waitMs) }, { signal });
    },
  ],
])("%s waits in vain", (_method, wait) => {
  test("for as long as the request asks, and not at all if it asks for nothing", async () => {
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    // Until the deadline of the call, as all would that did not end when they should.
    let isLongOver = false;
    const end = (): void => void (isLongOver = true);
    wait(3_600_000, leaving.signal).then(end, end);
    const waits = [0, 300, 1_200];
    const passed = await Promise.all(waits.map((waitMs) => passedMs(() => wait(waitMs, leaving.signal))));
    for (const [index, waitMs] of waits.entries()) expect(passed[index]).toBeGreaterThanOrEqual(waitMs - 5);
    expect(isLongOver).toBe(false);
  });
});

test("a wait ends half a second before its call, whatever the request asks", async () => {
  const limits = { waitMs: 60_000, callMs: 2_000 };
  const { signal } = new AbortController();
  let isCallOver = false;
  const deadline = setTimeout(() => (isCallOver = true), limits.callMs);
  onTestFinished(() => clearTimeout(deadline));
  const passed = await passedMs(() =>
    poll(
      () => Promise.resolve("PENDING"),
      (state) => state === "SUCCEEDED",
      limits,
      signal,
    ),
  );
  expect(passed).toBeGreaterThanOrEqual(1_495);
  // Timers run in the order of their times, however late.
  expect(isCallOver).toBe(false);
});

test("providers that ask for operations leave connections to lists", async () => {
  const { servicePath, provider, api, org } = cloud;
  const sql = await openSqlClient(server.databaseUrl);
  onTestFinished(() => sql.close());
  const waiting = "select pid from pg_locks where relation = 'operations'::regclass and not granted";
  await sql.query("begin; lock table operations");
  const asks = Array.from({ length: 20 }, () => provider.claimOperations({ servicePath, verbs: ["start"] }));
  const answers = Promise.all(asks);
  answers.catch(() => {});
  await expect.poll(() => sql.query(waiting)).not.toEqual([]);
  const listed = api.members.listMembers({ parentPath: org }).then(({ members }) => members.map(({ name }) => name));
  // Those that have a connection keep it until the time for a lock is over.
  const refused = Promise.any(asks.map((ask) => ask.catch(() => "refused")));
  expect(await Promise.race([listed, refused])).toEqual(["viewer"]);
  await sql.query("rollback");
  expect((await answers).flatMap(({ claims }) => claims)).toEqual([]);
});
