// Operations of one resource at the same time: those that its type declares as concurrent run beside each other, and all others
// run alone.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import type { OperationTypeSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { required } from "../../src/errors/required.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

const { ACTIVE, FAILED, UPDATING } = Resource_State;
const patience = { interval: 50 };
const maxConcurrent = 16;

let server: TestServer;
let second: TestServer;
let sql: SqlClient;
let cloud: Cloud;
/** The clients of the other server. */
let other: ResourcesApi;
let disks: string;
let machines: string;

beforeAll(async () => {
  server = await startTestServer();
  second = await startTestServer({ databaseUrl: server.databaseUrl });
  sql = await openSqlClient(server.databaseUrl);
  other = createResourcesApi("gRPC", second.url, server.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await server.close();
});

beforeEach(async () => {
  cloud = await openCloud("Connect", server.url, server.operatorKey);
  disks = await createType("disks", [{ verb: "create" }, { verb: "delete" }]);
  const wanted = [{ kind: cloud.cores, counted: true }];
  const disk = [{ name: "disk", typePath: disks }];
  machines = await createType("machines", [
    { verb: "create", quantities: wanted, references: [...disk, { name: "spare", typePath: disks }] },
    { verb: "snapshot", concurrent: true },
    { verb: "attach", concurrent: true, references: disk },
    { verb: "spare", concurrent: true, references: [{ name: "spare", typePath: disks }] },
    { verb: "restart" },
    { verb: "delete" },
    { verb: "suspend" },
    { verb: "resume" },
  ]);
});

const createType = async (name: string, operations: MessageInitShape<typeof OperationTypeSchema>[]) => {
  const resourceType = { name, collection: name, operations };
  return (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
};

async function create(name: string, typePath = machines, quantities: Record<string, number> = {}): Promise<string> {
  const resource = { name, typePath, quantities };
  const { resourcePath } = await cloud.resources.createResource({ parentPath: cloud.project, resource });
  await cloud.complete();
  return resourcePath;
}

const run = (path: string, operation: string, references: Record<string, string> = {}, on: ResourcesApi = cloud) =>
  on.resources.runResource({ path, operation, references });

const read = (path: string) => cloud.resources.getResource({ path });

/** Claims all operations that wait. */
async function claimAll(): Promise<Claim[]> {
  return (await cloud.provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 100 })).claims;
}

const claimOf = (claims: readonly Claim[], { path }: Operation): Claim =>
  required(claims.find(({ operation }) => operation?.path === path));

const complete = (claim: Claim, on: ResourcesApi = cloud) => on.provider.completeOperation(cloud.present(claim));

const fail = (claim: Claim) => cloud.provider.failOperation({ ...cloud.present(claim), reason: "NO", message: "no" });

test("concurrent operations run beside each other, and the resource is UPDATING until the last one ends", async () => {
  const path = await create("m");
  const started = [await run(path, "snapshot"), await run(path, "snapshot", {}, other), await run(path, "attach")];
  const [first, next, last] = started.map((each) => each.path);
  expect(await read(path)).toMatchObject({
    state: UPDATING,
    operationPath: first,
    operationPaths: [first, next, last],
  });

  const claims = await claimAll();
  expect(claims).toHaveLength(3);
  for (const claim of claims) expect(claim.resource?.path).toBe(path);
  const outputs = { address: "10.0.0.1" };
  await cloud.provider.completeOperation({ ...cloud.present(claimOf(claims, required(started[0]))), outputs });
  expect(await read(path)).toMatchObject({
    state: UPDATING,
    operationPath: next,
    operationPaths: [next, last],
    outputs,
  });
  await complete(claimOf(claims, required(started[2])), other);
  expect(await read(path)).toMatchObject({ state: UPDATING, operationPath: next, operationPaths: [next] });
  await complete(claimOf(claims, required(started[1])));
  expect(await read(path)).toMatchObject({ state: ACTIVE, operationPath: "", operationPaths: [], outputs });
});

test("an operation that is not concurrent runs alone", async () => {
  const path = await create("m");
  const { path: restart } = await run(path, "restart");
  expect(await read(path)).toMatchObject({ operationPath: restart, operationPaths: [restart] });
  for (const verb of ["snapshot", "restart"]) {
    const failure = await failureOf(run(path, verb));
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
    expect(failure.message).toContain(`wait for the operation ${restart}, or cancel it`);
  }
  await cloud.complete();

  const { path: one } = await run(path, "snapshot");
  expect((await failureOf(run(path, "restart"))).message).toContain(`wait for the operation ${one}, or cancel it`);
  await run(path, "snapshot");
  for (const failure of [
    await failureOf(run(path, "restart", {}, other)),
    await failureOf(cloud.resources.deleteResource({ path })),
    await failureOf(
      cloud.provider.reportResource({ servicePath: cloud.servicePath, resourcePath: path, state: FAILED }),
    ),
  ]) {
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
    expect(failure.message).toContain(`wait for its 2 operations, or cancel them; the first is ${one}`);
  }
  await cloud.complete();
  await cloud.complete();
  expect((await run(path, "restart")).verb).toBe("restart");
});

test("at most 16 run at once, also when more are started at the same time on two servers", async () => {
  const path = await create("m");
  const starts = Array.from({ length: maxConcurrent + 4 }, (_, index) =>
    failureOf(run(path, "snapshot", {}, index % 2 === 0 ? cloud : other)).catch(() => undefined),
  );
  const failures = (await Promise.all(starts)).filter((each) => each !== undefined);
  expect(failures).toHaveLength(4);
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" });
    expect(failure.metadata).toMatchObject({ resource: path, limit: String(maxConcurrent) });
    expect(failure.message).toContain("has 16 operations, which is as many as can run at once: wait for one");
  }
  const { operationPaths } = await read(path);
  expect(new Set(operationPaths).size).toBe(maxConcurrent);
  await cloud.complete();
  await run(path, "snapshot");
  expect((await read(path)).operationPaths).toHaveLength(maxConcurrent);
});

test("in a race on two servers, an operation that runs alone never runs beside others", async () => {
  let [alone, beside] = [0, 0];
  for (let round = 0; round < rounds(4, 200); round++) {
    const path = await create(`m${round}`);
    const verbs = ["snapshot", "snapshot", "restart", "snapshot", "restart", "snapshot"];
    const outcomes = await Promise.allSettled(
      verbs.map((verb, index) => run(path, verb, {}, (index + round) % 2 === 0 ? cloud : other)),
    );
    const started = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const verbsStarted = new Set(started.map(({ verb }) => verb));
    expect(verbsStarted.size).toBe(1);
    if (verbsStarted.has("restart")) alone++;
    else beside++;
    expect(started).toHaveLength(verbsStarted.has("restart") ? 1 : 4);
    expect((await read(path)).operationPaths.toSorted()).toEqual(started.map((each) => each.path).toSorted());
    const claims = await claimAll();
    await Promise.all(claims.map((claim, index) => complete(claim, index % 2 === 0 ? cloud : other)));
    expect(await read(path)).toMatchObject({ state: ACTIVE, operationPaths: [] });
  }
  expect(alone + beside).toBe(rounds(4, 200));
});

test("the database refuses a resource without an operation while several run, as an earlier server would leave it", async () => {
  const path = await create("m");
  await run(path, "snapshot");
  const { id } = await read(path);
  const end = sql.query("update resources set state = 'ACTIVE', operation_id = null where id::text = $1", [id]);
  await expect(end).rejects.toMatchObject({ constraint: "resources_concurrent_check" });
  const replace = sql.query("update resources set operation_id = gen_random_uuid() where id::text = $1", [id]);
  await expect(replace).rejects.toMatchObject({ constraint: "resources_concurrent_check" });
});

describe("the state of the resource", () => {
  test("stays UPDATING when one of several fails, and is then as before", async () => {
    const path = await create("m");
    const [one, next] = [await run(path, "snapshot"), await run(path, "snapshot")];
    const claims = await claimAll();
    await fail(claimOf(claims, one));
    expect(await read(path)).toMatchObject({ state: UPDATING, stateReason: "", operationPaths: [next.path] });
    await fail(claimOf(claims, next));
    expect(await read(path)).toMatchObject({ state: ACTIVE, stateReason: "", operationPaths: [] });
  });

  test.each([
    ["one of them succeeds", true, ACTIVE],
    ["all fail", false, FAILED],
  ])("of a FAILED one, when %s, and the quotas follow", async (_what, succeeds, state) => {
    const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
    const held = async () => {
      const { usage, reserved } = await quotas.getQuota({ parentPath: cloud.project });
      return [usage[cloud.cores] ?? 0, reserved[cloud.cores] ?? 0];
    };
    const resource = { name: "m", typePath: machines, quantities: { [cloud.cores]: 2 } };
    const { resourcePath: path } = await cloud.resources.createResource({ parentPath: cloud.project, resource });
    await fail(await cloud.claim());
    expect(await held()).toEqual([0, 0]);
    const started = [await run(path, "snapshot"), await run(path, "snapshot"), await run(path, "snapshot")];
    expect(await held()).toEqual([0, 2]);
    const claims = await claimAll();
    const [first, middle, last] = started.map((each) => claimOf(claims, each));
    await fail(required(first));
    expect(await held()).toEqual([0, 2]);
    await (succeeds ? complete : fail)(required(middle));
    expect(await held()).toEqual(succeeds ? [2, 0] : [0, 2]);
    expect((await read(path)).state).toBe(UPDATING);
    await fail(required(last));
    expect(await read(path)).toMatchObject({ state, stateReason: succeeds ? "" : "no" });
    expect(await held()).toEqual(succeeds ? [2, 0] : [0, 0]);
  });

  test("after operations that are cancelled, expire or run out of attempts", async () => {
    const path = await create("m");
    const [cancelled, asked, exhausted] = [
      await run(path, "snapshot"),
      await run(path, "snapshot"),
      await run(path, "snapshot"),
    ];
    expect(await cloud.operations.cancelOperation({ path: cancelled.path })).toMatchObject({
      state: Operation_State.CANCELLED,
    });
    expect((await read(path)).operationPaths).toEqual([asked.path, exhausted.path]);
    const claims = await claimAll();
    await cloud.operations.cancelOperation({ path: asked.path });
    await sql.query("update operations set attempts = 10, next_attempt_time = now() where id::text = $1", [
      exhausted.id,
    ]);
    const ended = await cloud.operations.waitOperation({ path: exhausted.path, timeout: { seconds: 25n } });
    expect(ended.error?.reason).toBe("ATTEMPTS_EXHAUSTED");
    expect(await read(path)).toMatchObject({ state: UPDATING, operationPaths: [asked.path] });
    expect((await fail(claimOf(claims, asked))).state).toBe(Operation_State.CANCELLED);
    expect(await read(path)).toMatchObject({ state: ACTIVE, operationPaths: [] });
  });
});

test("what any of them wants the resource to use cannot be deleted", async () => {
  const path = await create("m");
  const [one, two, three] = [await create("d1", disks), await create("d2", disks), await create("d3", disks)];
  const attaching = await run(path, "attach", { disk: one });
  const later = await run(path, "attach", { disk: two });
  const spare = await run(path, "spare", { spare: three });
  const usedBy = async (disk: string) => (await failureOf(cloud.resources.deleteResource({ path: disk }))).reason;
  const claims = await claimAll();

  await complete(claimOf(claims, later));
  for (const disk of [one, two, three]) expect(await usedBy(disk)).toBe("RESOURCE_IN_USE");
  await complete(claimOf(claims, spare));
  // The one that succeeds last counts.
  await complete(claimOf(claims, attaching));
  expect(Object.keys((await read(path)).references)).toEqual(["disk", "spare"]);
  expect(await usedBy(one)).toBe("RESOURCE_IN_USE");
  expect(await usedBy(three)).toBe("RESOURCE_IN_USE");
  await cloud.resources.deleteResource({ path: two });
});

test("what a cancelled one of them wanted can be deleted while the others run", async () => {
  const path = await create("m");
  const [one, two] = [await create("d1", disks), await create("d2", disks)];
  const { path: attaching } = await run(path, "attach", { disk: one });
  await run(path, "spare", { spare: two });
  await cloud.operations.cancelOperation({ path: attaching });
  await cloud.resources.deleteResource({ path: one });
  expect(await failureOf(cloud.resources.deleteResource({ path: two }))).toMatchObject({ reason: "RESOURCE_IN_USE" });
});

describe("a Project with a resource on which several run", () => {
  test("is suspended after the last of them", async () => {
    const path = await create("m");
    const started = [await run(path, "snapshot"), await run(path, "snapshot")];
    await cloud.api.projects.suspendProject({ path: cloud.project });
    const claims = await claimAll();
    expect(claims).toHaveLength(2);
    await complete(claimOf(claims, required(started[1])));
    expect((await read(path)).state).toBe(UPDATING);
    await complete(claimOf(claims, required(started[0])));
    await expect
      .poll(async () => (await claimAll()).map(({ operation }) => operation?.verb), patience)
      .toEqual(["suspend"]);
  });

  test("is deleted with force: all of them are cancelled", async () => {
    const path = await create("m");
    const started = [await run(path, "snapshot"), await run(path, "snapshot"), await run(path, "snapshot")];
    const claim = await cloud.claim();
    await cloud.api.projects.deleteProject({ path: cloud.project, force: true });
    const id = claim.resource?.id;
    const state = async () =>
      (
        await sql.query("select state, cardinality(concurrent_ids) as running from resources where id::text = $1", [id])
      )[0];
    await expect.poll(state, patience).toEqual({ state: "UPDATING", running: 1 });
    const rows = await sql.query(
      "select verb, state, cancel_requested as asked from operations where resource_id::text = $1 and verb = 'snapshot'",
      [id],
    );
    expect(rows.filter((each) => each["state"] === "CANCELLED")).toHaveLength(started.length - 1);
    expect(rows.filter((each) => each["state"] === "RUNNING" && each["asked"] === true)).toHaveLength(1);
    await fail(claim);
    await expect.poll(state, patience).toEqual({ state: "DELETING", running: 0 });
    await complete(await nextClaim());
    expect(await state()).toBeUndefined();
  });
});

async function nextClaim(): Promise<Claim> {
  const { claims } = await cloud.provider.claimOperations({ servicePath: cloud.servicePath, wait: { seconds: 20n } });
  return required(claims[0]);
}
