// Tests batches of resources, with two servers on one database: all operations or none, and the permission of each type.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { expectNoDrift } from "../support/expect-no-drift.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let first: TestServer;
let second: TestServer;
let sql: SqlClient;
let cloud: Cloud;
let elsewhere: ResourcesApi;
/** A type of the same service whose operations need nothing. */
let volumes: string;

beforeAll(async () => {
  first = await startTestServer();
  second = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
  cloud = await openCloud("gRPC", first.url, first.operatorKey);
  elsewhere = createResourcesApi("REST", second.url, first.operatorKey);
  const { path } = await cloud.types.createResourceType({
    parentPath: cloud.servicePath,
    resourceType: { name: "volumes", collection: "volumes", operations: [{ verb: "create" }, { verb: "delete" }] },
  });
  volumes = path;
});
afterAll(async () => {
  await expectNoDrift(first.databaseUrl);
  await sql.close();
  await second.close();
  await first.close();
});

const newProject = async (): Promise<string> =>
  (await cloud.api.projects.createProject({ parentPath: cloud.org, project: { name: uniqueName("p") } })).path;

const instance = (cores: number, name = uniqueName("vm")) => ({
  resource: { name, typePath: cloud.typePath, quantities: { [cloud.cores]: cores } },
});
const volume = (name = uniqueName("disk")) => ({ resource: { name, typePath: volumes } });

const quotas = () => createClient(QuotasService, createTransport("gRPC", first.url, first.operatorKey));
const limit = (parentPath: string, cores: number) =>
  quotas().updateQuota({ parentPath, quota: { limits: { [cloud.cores]: cores } } });

/** Completes all operations that wait. */
async function completeAll(): Promise<void> {
  const { servicePath, provider } = cloud;
  for (;;) {
    const { claims } = await provider.claimOperations({ servicePath, maxOperations: 100 });
    if (claims.length === 0) return;
    for (const claim of claims) await provider.completeOperation(cloud.present(claim));
  }
}

const pathsOf = (operations: readonly Operation[]): string[] => operations.map(({ resourcePath }) => resourcePath);

const namesIn = async (parentPath: string): Promise<string[]> =>
  (await cloud.resources.listResources({ parentPath, pageSize: 1000 })).resources.map(({ name }) => name);

describe("a batch", () => {
  test("starts an operation for each entry in one revision, which the provider carries out", async () => {
    const parentPath = await newProject();
    const requests = [instance(1, "one"), volume("two"), instance(2, "three")];
    const created = await cloud.resources.batchCreateResources({ parentPath, requests });
    expect(pathsOf(created.operations)).toEqual(
      ["one", "two", "three"].map((name) => `${parentPath}/resources/${name}`),
    );
    const revisions = await sql.query(
      "select distinct revision from changes where resource_path like $1 or resource_id = any ($2::uuid[])",
      [`${parentPath}/resources/%`, created.operations.map(({ id }) => id)],
    );
    expect(revisions).toHaveLength(1);
    await completeAll();
    const paths = [...pathsOf(created.operations)].toReversed();
    const deleted = await cloud.resources.batchDeleteResources({ parentPath, paths });
    expect(pathsOf(deleted.operations)).toEqual(paths);
    expect(deleted.operations.map(({ verb }) => verb)).toEqual(["delete", "delete", "delete"]);
    await completeAll();
    expect(await namesIn(parentPath)).toEqual([]);
  });

  test("has at most 100 entries", async () => {
    const parentPath = await newProject();
    const requests = Array.from({ length: 100 }, (_, index) => volume(`disk-${index}`));
    const tooMany = cloud.resources.batchCreateResources({ parentPath, requests: [...requests, volume()] });
    expect(await failureOf(tooMany)).toMatchObject({ code: "InvalidArgument", fields: ["requests"] });
    const most = { parentPath, requests, validateOnly: true };
    expect((await cloud.resources.batchCreateResources(most)).operations).toHaveLength(100);
    const paths = Array.from({ length: 101 }, (_, index) => `${parentPath}/resources/disk-${index}`);
    const late = cloud.resources.batchDeleteResources({ parentPath, paths });
    expect(await failureOf(late)).toMatchObject({ code: "InvalidArgument", fields: ["paths"] });
  });

  test("that does not fit into a quota changes nothing, and names the entry", async () => {
    const parentPath = await newProject();
    await limit(parentPath, 4);
    const requests = [instance(1), volume(), instance(3), instance(0.5), instance(0.5)];
    const before = await sql.summarise();
    for (const validateOnly of [true, false]) {
      const failure = await failureOf(cloud.resources.batchCreateResources({ parentPath, requests, validateOnly }));
      expect(failure).toMatchObject({ reason: "QUOTA_EXCEEDED", metadata: { index: "3" } });
    }
    expect(await sql.summarise()).toEqual(before);
    const fitting = { parentPath, requests: requests.slice(0, 3) };
    const checked = await cloud.resources.batchCreateResources({ ...fitting, validateOnly: true });
    // Each operation shows what the whole batch leaves.
    for (const { quotaBalances } of [checked.operations[0], checked.operations[2]].map(required)) {
      expect(quotaBalances).toContainEqual(expect.objectContaining({ quotaPath: `${parentPath}/quota`, left: 0 }));
    }
    expect(await sql.summarise()).toEqual(before);
    await cloud.resources.batchCreateResources(fitting);
    await completeAll();
  });

  test("names each variable that is wrong, and an entry without a type", async () => {
    const parentPath = await newProject();
    const wrong = { resource: { name: "vm", typePath: cloud.typePath, quantities: { [cloud.cores]: 0.05 } } };
    const variable = await failureOf(
      cloud.resources.batchCreateResources({ parentPath, requests: [instance(1), wrong] }),
    );
    expect(variable).toMatchObject({ fields: [`requests[1].resource.quantities["${cloud.cores}"]`] });
    const untyped = { resource: { name: "vm" } };
    const missing = await failureOf(
      cloud.resources.batchCreateResources({ parentPath, requests: [instance(1), untyped] }),
    );
    expect(missing).toMatchObject({ code: "InvalidArgument", fields: ["requests[1].resource.type_path"] });
    const unknown = { resource: { name: "vm", typePath: `${cloud.servicePath}/resourceTypes/none` } };
    const none = await failureOf(
      cloud.resources.batchCreateResources({ parentPath, requests: [instance(1), unknown] }),
    );
    expect(none).toMatchObject({ code: "InvalidArgument", fields: ["requests[1].resource.type_path"] });
    expect(await namesIn(parentPath)).toEqual([]);
  });

  test("deletes nothing if an operation is changing one of the resources, and names it", async () => {
    const parentPath = await newProject();
    const { operations } = await cloud.resources.batchCreateResources({ parentPath, requests: [volume(), volume()] });
    await completeAll();
    const paths = pathsOf(operations);
    await cloud.resources.deleteResource({ path: required(paths[1]) });
    const before = await sql.summarise();
    const failure = await failureOf(cloud.resources.batchDeleteResources({ parentPath, paths }));
    expect(failure).toMatchObject({ reason: "STATE_FORBIDS", metadata: { index: "1", resource: paths[1] } });
    expect(await sql.summarise()).toEqual(before);
    await completeAll();
  });
});

describe("a caller", () => {
  /** Returns the clients of a member who holds permissions on a project. */
  const memberWith = async (parentPath: string, ...permissions: string[]): Promise<ResourcesApi> => {
    const { api, org } = cloud;
    const name = uniqueName("member");
    const member = await api.members.createMember({ parentPath: org, member: { name } });
    const { secret } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
    const role = await api.roles.createRole({ parentPath: org, role: { name, permissions } });
    const roleBinding = { name, rolePath: role.path, subjectPath: member.path };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
    return createResourcesApi("REST", second.url, required(secret));
  };
  const permission = (collection: string, verb: string): string => `${cloud.service}.${collection}.${verb}`;

  test("needs the permission to create each type in the batch", async () => {
    const parentPath = await newProject();
    const some = await memberWith(parentPath, permission("instances", "create"));
    await some.resources.batchCreateResources({ parentPath, requests: [instance(1)], validateOnly: true });
    const failure = await failureOf(
      some.resources.batchCreateResources({ parentPath, requests: [instance(1), volume()], validateOnly: true }),
    );
    expect(failure).toMatchObject({
      reason: "PERMISSION_DENIED",
      metadata: { permission: permission("volumes", "create") },
    });
    const all = await memberWith(parentPath, permission("instances", "create"), permission("volumes", "create"));
    await all.resources.batchCreateResources({ parentPath, requests: [instance(1), volume()], validateOnly: true });
    // Neither in another project.
    const other = { parentPath: await newProject(), requests: [instance(1)], validateOnly: true };
    expect(await failureOf(all.resources.batchCreateResources(other))).toMatchObject({ reason: "PERMISSION_DENIED" });
  });

  test("needs the permission to delete each type, and does not learn what exists without that to read it", async () => {
    const [parentPath, other] = [await newProject(), await newProject()];
    const requests = [instance(1, "vm"), volume("disk")];
    await cloud.resources.batchCreateResources({ parentPath, requests });
    await cloud.resources.batchCreateResources({ parentPath: other, requests });
    await completeAll();
    const some = await memberWith(parentPath, permission("instances", "delete"));
    const remove = (...names: string[]) =>
      some.resources.batchDeleteResources({
        parentPath,
        paths: names.map((name) => (name.startsWith("/") ? name : `${parentPath}/resources/${name}`)),
        validateOnly: true,
      });
    await remove("vm");
    const hidden = await failureOf(remove("vm", "disk"));
    expect(hidden.reason).toBe("PERMISSION_DENIED");
    // The same as for what does not exist, and for what is in another project, whether or not it exists.
    for (const name of ["nothing", `${other}/resources/vm`, `${other}/resources/nothing`]) {
      expect({ ...(await failureOf(remove("vm", name))), requestId: "" }).toEqual({ ...hidden, requestId: "" });
    }
  });
});

describe("on two servers at the same time", () => {
  test("batches never take more than the quota, and each has all of its resources or none", async () => {
    const parentPath = await newProject();
    await limit(parentPath, 10);
    const sizes = Array.from({ length: rounds(8, 40) }, (_, turn) => 1 + (turn % 4));
    const started = await Promise.all(
      sizes.map((size, turn) => {
        const requests = Array.from({ length: size }, (_, entry) => instance(1, `vm-${turn}-${entry}`));
        const { resources } = turn % 2 === 0 ? cloud : elsewhere;
        return resources.batchCreateResources({ parentPath, requests }).then(
          () => size,
          async (error: unknown) => {
            expect(await failureOf(Promise.reject(error))).toMatchObject({ reason: "QUOTA_EXCEEDED" });
            return 0;
          },
        );
      }),
    );
    const taken = started.reduce((sum, size) => sum + size, 0);
    expect(await namesIn(parentPath)).toHaveLength(taken);
    expect(taken).toBeLessThanOrEqual(10);
    // A batch was refused only when there was no room for it.
    const refused = sizes.filter((_size, turn) => started[turn] === 0);
    expect(Math.min(...refused)).toBeGreaterThan(10 - taken);
    await completeAll();
  });

  test("a batch and the deletion of its project leave no resource in a deleted project", async () => {
    for (let round = 0; round < rounds(2, 30); round++) {
      const parentPath = await newProject();
      const force = round % 2 === 0;
      const requests = Array.from({ length: 5 }, () => instance(1));
      const [created, deleted] = await Promise.allSettled([
        elsewhere.resources.batchCreateResources({ parentPath, requests }),
        cloud.api.projects.deleteProject({ path: parentPath, force }),
      ]);
      if (deleted.status === "rejected") {
        // Without force, the resources keep the project.
        expect([force, created.status]).toEqual([false, "fulfilled"]);
        expect(await namesIn(parentPath)).toHaveLength(5);
      } else {
        const path = `${cloud.org}/projects/@${deleted.value.id}`;
        // The provider carries out what the sweep starts.
        await expect
          .poll(
            async () => {
              await completeAll();
              return namesIn(path);
            },
            { interval: 200 },
          )
          .toEqual([]);
      }
    }
    await completeAll();
  });
});
