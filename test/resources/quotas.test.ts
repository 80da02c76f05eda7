// Tests how resources count against quotas: reserved when an operation starts, charged when it ends, freed at the deletion.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, createResourcesApi, openCloud } from "./cloud.ts";

let servers: readonly SharedServer[];
let third: TestServer;
let cloud: Cloud;

beforeAll(async () => {
  const first = await sharedServer();
  const { databaseUrl, secretKeysFile } = first;
  third = await startTestServer({ databaseUrl, secretKeysFile });
  servers = [first, await secondSharedServer(), third];
  cloud = await openCloud("REST", first.url, first.operatorKey);
});
afterAll(() => third.close());

const operatorKey = (): string => servers[0]!.operatorKey;
const quotas = () => createClient(QuotasService, createTransport("REST", servers[0]!.url, operatorKey()));

/** Returns what is used and reserved of the cores at a level. */
async function coresOf(parentPath: string): Promise<readonly [used: number, reserved: number]> {
  const { usage, reserved } = await quotas().getQuota({ parentPath });
  return [usage[cloud.cores] ?? 0, reserved[cloud.cores] ?? 0];
}

async function limit(parentPath: string, cores: number | undefined): Promise<void> {
  const limits: Record<string, number> = cores === undefined ? {} : { [cloud.cores]: cores };
  const updateMask = { paths: [`limits.${cloud.cores}`] };
  await quotas().updateQuota({ parentPath, quota: { limits }, updateMask });
}

describe("the cores of a resource", () => {
  test("are reserved, charged as given, and freed, at all three levels", async () => {
    const { api, org, project } = cloud;
    const { customerPath } = await api.orgs.getOrg({ path: org });
    const expectAll = async (cores: readonly [number, number]): Promise<void> => {
      for (const level of [project, org, customerPath])
        expect([level, ...(await coresOf(level))]).toEqual([level, ...cores]);
    };
    const path = cloud.pathOf("held");
    await cloud.create("held", 2);
    await expectAll([0, 2]);
    await cloud.complete({ [cloud.cores]: 2.5 });
    await expectAll([2.5, 0]);
    await cloud.resources.runResource({ path, operation: "resize", quantities: { [cloud.cores]: 4 } });
    await expectAll([2.5, 1.5]);
    await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "BUSY" });
    await expectAll([2.5, 0]);
    await cloud.resources.runResource({ path, operation: "resize", quantities: { [cloud.cores]: 1 } });
    await expectAll([2.5, 0]);
    await cloud.complete();
    await expectAll([1, 0]);
    await cloud.resources.deleteResource({ path });
    await expectAll([1, 0]);
    await cloud.complete();
    await expectAll([0, 0]);
  });

  test("are freed when the creation of the resource fails or is cancelled", async () => {
    await cloud.create("failing", 2);
    await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "NO_CAPACITY" });
    expect(await coresOf(cloud.project)).toEqual([0, 0]);
    const { path } = await cloud.create("unwanted", 2);
    await cloud.operations.cancelOperation({ path });
    expect(await coresOf(cloud.project)).toEqual([0, 0]);
    await cloud.resources.deleteResource({ path: cloud.pathOf("failing") });
    await cloud.complete();
  });

  test("count when the resource works after all, although its creation failed", async () => {
    const failed = async (name: string): Promise<string> => {
      await cloud.create(name, 2);
      await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "NO_CAPACITY" });
      return cloud.pathOf(name);
    };
    const started = await failed("started");
    await cloud.resources.runResource({ path: started, operation: "start" });
    expect(await coresOf(cloud.project)).toEqual([0, 2]);
    await cloud.complete();
    expect(await coresOf(cloud.project)).toEqual([2, 0]);
    const reported = await failed("reported");
    const { servicePath } = cloud;
    await cloud.provider.reportResource({ servicePath, resourcePath: reported, state: Resource_State.ACTIVE });
    expect(await coresOf(cloud.project)).toEqual([4, 0]);
    for (const path of [started, reported]) {
      await cloud.resources.deleteResource({ path });
      await cloud.complete();
    }
    expect(await coresOf(cloud.project)).toEqual([0, 0]);
  });

  test("are refused beyond a limit, which the error names, and nothing is left behind", async () => {
    await limit(cloud.org, 3);
    await cloud.create("first", 2);
    await cloud.complete();
    const refused = await failureOf(cloud.create("second", 1.5));
    expect(refused).toMatchObject({ code: "ResourceExhausted", reason: "QUOTA_EXCEEDED" });
    expect(refused.message).toContain(cloud.cores);
    expect(await failureOf(cloud.resources.getResource({ path: cloud.pathOf("second") }))).toMatchObject({
      code: "NotFound",
    });
    expect(await coresOf(cloud.org)).toEqual([2, 0]);

    const path = cloud.pathOf("first");
    const grown = cloud.resources.runResource({ path, operation: "resize", quantities: { [cloud.cores]: 3.5 } });
    expect(await failureOf(grown)).toMatchObject({ reason: "QUOTA_EXCEEDED" });
    await cloud.create("third", 1);
    const claim = await cloud.claim();
    const surplus = cloud.provider.completeOperation({
      ...cloud.present(claim),
      givenQuantities: { [cloud.cores]: 1.1 },
    });
    expect(await failureOf(surplus)).toMatchObject({ reason: "QUOTA_EXCEEDED" });
    await cloud.provider.completeOperation(cloud.present(claim));
    expect(await coresOf(cloud.org)).toEqual([3, 0]);

    for (const name of ["first", "third"]) {
      await cloud.resources.deleteResource({ path: cloud.pathOf(name) });
      await cloud.complete();
    }
    await limit(cloud.org, undefined);
  });
});

describe("validate_only", () => {
  const balance = (quotaPath: string, amounts: object) =>
    expect.objectContaining({ quotaPath, kind: cloud.cores, ...amounts });

  test("returns what would be left at each level, and reserves nothing", async () => {
    const { api, org, project, typePath, cores, resources } = cloud;
    const { customerPath } = await api.orgs.getOrg({ path: org });
    await limit(org, 3);
    const resource = { name: "asked", typePath, quantities: { [cores]: 2 } };
    const creation = await resources.createResource({ parentPath: project, resource, validateOnly: true });
    const free = { used: 0, reserved: 2 };
    expect(creation.quotaBalances).toEqual([
      balance(`${customerPath}/quota`, free),
      balance(`${org}/quota`, { used: 0, reserved: 2, limit: 3, left: 1 }),
      balance(`${project}/quota`, free),
    ]);
    expect(creation.quotaBalances[0]).not.toHaveProperty("limit");
    expect(creation.quotaBalances[0]).not.toHaveProperty("left");
    expect(await coresOf(org)).toEqual([0, 0]);

    expect((await cloud.create("asked", 1)).quotaBalances).toEqual([]);
    await cloud.complete();
    const path = cloud.pathOf("asked");
    const resize = { path, operation: "resize", quantities: { [cores]: 2.5 }, validateOnly: true };
    const balances = (await resources.runResource(resize)).quotaBalances;
    expect(balances[1]).toMatchObject({ quotaPath: `${org}/quota`, used: 1, reserved: 1.5, left: 0.5 });
    const refused = resources.runResource({ ...resize, quantities: { [cores]: 3.5 } });
    expect(await failureOf(refused)).toMatchObject({ reason: "QUOTA_EXCEEDED" });

    await resources.deleteResource({ path });
    await cloud.complete();
    await limit(org, undefined);
  });
});

test("of 64 concurrent creations on three servers, exactly the 20 within the limit start", async () => {
  const { api, org, typePath, cores } = cloud;
  const { customerPath } = await api.orgs.getOrg({ path: org });
  const orgs = [org];
  while (orgs.length < 4)
    orgs.push((await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } })).path);
  const projects: string[] = [];
  for (const parentPath of orgs) {
    projects.push((await api.projects.createProject({ parentPath, project: { name: uniqueName("race") } })).path);
  }
  await limit(customerPath, 10);
  const clients = servers.map(({ url }) => createResourcesApi("gRPC", url, operatorKey()));
  const create = (index: number): Promise<unknown> =>
    clients[index % clients.length]!.resources.createResource({
      parentPath: projects[index % projects.length]!,
      resource: { name: `db-${index}`, typePath, quantities: { [cores]: 0.5 } },
    });
  /** They wait for one lock: on a slow machine some find no connection in time, and are repeated as a client would. */
  const createPatiently = async (index: number): Promise<unknown> => {
    for (;;) {
      const failure = await create(index).then(
        () => undefined,
        (error: unknown) => failureOf(Promise.reject(error)),
      );
      if (failure === undefined) return;
      if (failure.reason !== "SERVICE_UNAVAILABLE") throw new Error(failure.reason);
    }
  };
  const results = await Promise.allSettled(Array.from({ length: 64 }, (_, index) => createPatiently(index)));
  const refused = results.filter((result) => result.status === "rejected");
  expect(new Set(refused.map(({ reason }) => (reason as Error).message))).toEqual(new Set(["QUOTA_EXCEEDED"]));
  expect(refused).toHaveLength(64 - 20);
  expect(await coresOf(customerPath)).toEqual([0, 10]);
});
