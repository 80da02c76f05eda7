// Tests that who waits for an operation gets it only with the permission to read it then.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import { required } from "../../src/errors/required.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

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
