// Tests what providers do: claims as leases, attempts, failures, and providers and servers that stop in between.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type Cloud, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
let second: SharedServer;
let sql: SqlClient;
let cloud: Cloud;

beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
});
beforeAll(async () => {
  cloud = await openCloud("REST", server.url, server.operatorKey);
});

/** Sets the end of a claim, or of a pause before a retry, to the past. */
const makeDue = (operationPath: string) =>
  sql.query("update operations set next_attempt_time = now() where id = $1", [idIn(operationPath)]);

const idIn = (path: string): string => path.slice(path.indexOf("@") + 1);

const stateOf = async (path: string): Promise<Resource_State> => (await cloud.resources.getResource({ path })).state;

describe("a claim", () => {
  test("returns the operations that have waited longest, each once", async () => {
    const names = Array.from({ length: 5 }, () => uniqueName("db"));
    const started = [];
    for (const name of names) started.push((await cloud.create(name)).path);
    const { servicePath, provider } = cloud;
    const first = await provider.claimOperations({ servicePath, maxOperations: 2 });
    const rest = await provider.claimOperations({ servicePath, maxOperations: 100 });
    const none = await provider.claimOperations({ servicePath });
    const claims = [...first.claims, ...rest.claims];
    expect(first.claims).toHaveLength(2);
    expect(claims.map(({ operation }) => operation?.path)).toEqual(started);
    expect(none.claims).toEqual([]);
    for (const claim of claims) await provider.completeOperation(cloud.present(claim));
  });

  test("belongs to one provider, however many claim concurrently on two servers", async () => {
    const started = [];
    for (let each = 0; each < 20; each++) started.push((await cloud.create(uniqueName("many"))).path);
    const other = createResourcesApi("gRPC", second.url, server.operatorKey);
    const asking = Array.from({ length: 16 }, (_, index) =>
      (index % 2 === 0 ? cloud : other).provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 2 }),
    );
    const claims = (await Promise.all(asking)).flatMap((answer) => answer.claims);
    const paths = claims.map(({ operation }) => required(operation).path);
    expect(new Set(paths).size).toBe(paths.length);
    const left = await cloud.provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 100 });
    expect([...paths, ...left.claims.map(({ operation }) => required(operation).path)].toSorted()).toEqual(
      started.toSorted(),
    );
    for (const claim of [...claims, ...left.claims]) await cloud.provider.completeOperation(cloud.present(claim));
  });

  test("waits for an operation, which another server starts", async () => {
    const other = createResourcesApi("Connect", second.url, server.operatorKey);
    const { servicePath } = cloud;
    const waiting = other.provider.claimOperations({ servicePath, wait: { seconds: 20n } });
    const operation = await cloud.create(uniqueName("late"));
    const { claims } = await waiting;
    expect(claims.map((claim) => claim.operation?.path)).toEqual([operation.path]);
    await other.provider.completeOperation(cloud.present(required(claims[0])));
  });

  test("is void once it has expired and the operation was claimed again", async () => {
    const name = uniqueName("slow");
    const { path } = await cloud.create(name);
    const before = await cloud.claim();
    await makeDue(path);
    const after = await cloud.claim();
    expect(after).toMatchObject({ attempt: 2, operation: { path } });
    const { provider } = cloud;
    for (const late of [
      () => provider.completeOperation(cloud.present(before)),
      () => provider.failOperation({ ...cloud.present(before), reason: "LATE" }),
      () => provider.renewOperation(cloud.present(before)),
    ]) {
      expect(await failureOf(late())).toMatchObject({ code: "Aborted", reason: "CLAIM_VOID" });
    }
    expect(await stateOf(cloud.pathOf(name))).toBe(Resource_State.CREATING);
    // One that has expired counts until there is another.
    await makeDue(path);
    expect((await provider.renewOperation(cloud.present(after))).claimExpireTime).toBeDefined();
    await makeDue(path);
    await provider.completeOperation(cloud.present(after));
    expect(await stateOf(cloud.pathOf(name))).toBe(Resource_State.ACTIVE);
    expect(await failureOf(provider.completeOperation(cloud.present(after)))).toMatchObject({ reason: "CLAIM_VOID" });
  });

  test("that has expired still counts until the operation is claimed again", async () => {
    const { path } = await cloud.create(uniqueName("slow"));
    const claim = await cloud.claim();
    await makeDue(path);
    expect((await cloud.provider.completeOperation(cloud.present(claim))).state).toBe(Operation_State.SUCCEEDED);
  });

  test("can be renewed, with the progress", async () => {
    const { path, etag, updateTime } = await cloud.create(uniqueName("long"));
    const claim = await cloud.claim(1);
    const progress = { progressPercent: 40, progressMessage: "copying" };
    const renewed = await cloud.provider.renewOperation({
      ...cloud.present(claim),
      ...progress,
      claimDuration: { seconds: 3600n },
    });
    expect(required(renewed.claimExpireTime).seconds - required(claim.claimExpireTime).seconds).toBeGreaterThan(3000n);
    const operation = await cloud.operations.getOperation({ path });
    expect(operation).toMatchObject({ ...progress, state: Operation_State.RUNNING, etag, updateTime });
    await cloud.provider.renewOperation(cloud.present(claim));
    expect(await cloud.operations.getOperation({ path })).toMatchObject(progress);
    await cloud.provider.completeOperation(cloud.present(claim));
  });

  test("can be completed once, by one of two concurrent calls", async () => {
    await cloud.create(uniqueName("twice"));
    const claim = await cloud.claim();
    const other = createResourcesApi("REST", second.url, server.operatorKey);
    const answers = await Promise.allSettled(
      [cloud, other, cloud, other].map(({ provider }) => provider.completeOperation(cloud.present(claim))),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("does not cover the operations of another service", async () => {
    const another = await openCloud("REST", server.url, server.operatorKey);
    const { path } = await another.create("theirs");
    const claim = await another.claim();
    const stolen = { servicePath: cloud.servicePath, operationPath: path, claimToken: claim.claimToken };
    expect(await failureOf(cloud.provider.completeOperation(stolen))).toMatchObject({ code: "NotFound" });
    expect((await cloud.provider.claimOperations({ servicePath: cloud.servicePath })).claims).toEqual([]);
    await another.provider.completeOperation(another.present(claim));
  });
});

describe("the given amounts", () => {
  test("are never less than the wanted ones, and of variables of the operation", async () => {
    const { cores, ram, certificate } = cloud;
    await cloud.create(uniqueName("given"), 2, { qualities: { [certificate]: 2 } });
    const claim = await cloud.claim();
    const complete = (givenQuantities: Record<string, number>, givenQualities: Record<string, number> = {}) =>
      cloud.provider.completeOperation({ ...cloud.present(claim), givenQuantities, givenQualities });
    const failure = await failureOf(complete({ [cores]: 1.9, disks: 1 }, { [certificate]: 1 }));
    expect(failure).toMatchObject({ code: "InvalidArgument" });
    expect(failure.fields.toSorted()).toEqual(
      [`given_quantities["${cores}"]`, 'given_quantities["disks"]', `given_qualities["${certificate}"]`].toSorted(),
    );
    expect(failure.message).toContain("must be at least 2, which was wanted, got 1.9");
    const done = await complete({ [cores]: 2.01 });
    expect(done).toMatchObject({
      givenQuantities: { [cores]: 2.01, [ram]: 1024 },
      givenQualities: { [certificate]: 2 },
    });
  });

  test("are never less than the resource wants, also of an operation without a request for them", async () => {
    const { cores, certificate, servicePath, provider, resources } = cloud;
    const counted = { kind: cores, counted: true };
    const given = { givenQuantities: [counted], givenQualities: [{ kind: certificate }] };
    const operations = [
      { verb: "create", quantities: [counted], qualities: [{ kind: certificate }] },
      { verb: "compact", ...given },
      { verb: "resize", quantities: [counted], qualities: [{ kind: certificate }], ...given },
      { verb: "delete", ...given },
    ];
    const resourceType = { name: "clusters", collection: "clusters", operations };
    const { path: typePath } = await cloud.types.createResourceType({ parentPath: servicePath, resourceType });
    const { resourcePath: path } = await cloud.create(uniqueName("cluster"), 4, {
      typePath,
      qualities: { [certificate]: 2 },
    });
    await cloud.complete();
    const has = async () => {
      const { quantities, givenQuantities, qualities, givenQualities } = await resources.getResource({ path });
      return [quantities[cores], givenQuantities[cores], qualities[certificate], givenQualities[certificate]];
    };
    const complete = (claim: Claim, amount: number, grade: number) =>
      provider.completeOperation({
        ...cloud.present(claim),
        givenQuantities: { [cores]: amount },
        givenQualities: { [certificate]: grade },
      });

    for (const operation of ["compact", "resize"]) {
      await resources.runResource({ path, operation });
      const claim = await cloud.claim();
      const failure = await failureOf(complete(claim, 3.9, 1));
      expect(failure).toMatchObject({
        code: "InvalidArgument",
        fields: [`given_quantities["${cores}"]`, `given_qualities["${certificate}"]`],
      });
      expect(failure.message).toContain("must be at least 4, which was wanted, got 3.9");
      expect((await complete(claim, 4, 2)).givenQuantities).toEqual({ [cores]: 4 });
      expect(await has()).toEqual([4, 4, 2, 2]);
    }

    // What the operation itself wants replaces that.
    await resources.runResource({ path, operation: "resize", quantities: { [cores]: 1 } });
    await complete(await cloud.claim(), 1.5, 2);
    expect(await has()).toEqual([1, 1.5, 2, 2]);

    await resources.deleteResource({ path });
    expect(await complete(await cloud.claim(), 0, 0)).toMatchObject({ done: true });
  });

  test("are never so large that sums become infinite, and grades are whole", async () => {
    const { cores, ram, certificate } = cloud;
    const huge = cloud.create(uniqueName("huge"), 2, { quantities: { [cores]: 2, [ram]: 1.024e300 } });
    expect(await failureOf(huge)).toMatchObject({ fields: [`resource.quantities["${ram}"]`] });
    await cloud.create(uniqueName("huge"), 2, { qualities: { [certificate]: 1 } });
    const claim = await cloud.claim();
    for (const amount of [1e300, Infinity, Number.NaN, -1]) {
      const complete = cloud.provider.completeOperation({
        ...cloud.present(claim),
        givenQuantities: { [cores]: amount },
      });
      expect(await failureOf(complete)).toMatchObject({ fields: [`given_quantities["${cores}"]`] });
    }
    const half = cloud.provider.completeOperation({ ...cloud.present(claim), givenQualities: { [certificate]: 1.5 } });
    expect(await failureOf(half)).toMatchObject({ fields: [`given_qualities["${certificate}"]`] });
    await cloud.provider.completeOperation(cloud.present(claim));
  });

  test("have outputs of a bounded size", async () => {
    await cloud.create(uniqueName("big"));
    const claim = await cloud.claim();
    const complete = (text: string) => cloud.provider.completeOperation({ ...cloud.present(claim), outputs: { text } });
    expect(await failureOf(complete("x".repeat(65_536)))).toMatchObject({ fields: ["outputs"] });
    for (const text of ["\0", "\uD800"]) expect(await failureOf(complete(text))).toMatchObject({ fields: ["outputs"] });
    expect((await complete("x".repeat(60_000))).done).toBe(true);
  });
});

test("messages are stored as they are, and cannot contain U+0000", async () => {
  await cloud.create(uniqueName("text"));
  const claim = await cloud.claim();
  const renew = (progressMessage: string) =>
    cloud.provider.renewOperation({ ...cloud.present(claim), progressMessage });
  expect(await failureOf(renew("\0"))).toMatchObject({ fields: ["progress_message"] });
  const fail = cloud.provider.failOperation({ ...cloud.present(claim), reason: "BUSY", message: "\0" });
  expect(await failureOf(fail)).toMatchObject({ fields: ["message"] });
  await renew("größer, 大きい");
  expect((await cloud.provider.completeOperation(cloud.present(claim))).progressMessage).toBe("größer, 大きい");
});

describe("a failure", () => {
  test("of a creation ends it, and leaves the resource FAILED with the reason", async () => {
    const name = uniqueName("fails");
    const { path } = await cloud.create(name);
    const claim = await cloud.claim();
    const reason = { reason: "NO_CAPACITY", message: "no host has two free cores" };
    const failed = await cloud.provider.failOperation({ ...cloud.present(claim), ...reason });
    expect(failed).toMatchObject({ path, state: Operation_State.FAILED, done: true, error: reason });
    expect(await cloud.resources.getResource({ path: cloud.pathOf(name) })).toMatchObject({
      state: Resource_State.FAILED,
      stateReason: reason.message,
    });
    await cloud.resources.deleteResource({ path: cloud.pathOf(name) });
    await cloud.complete();
  });

  test("of a change leaves the resource as it was", async () => {
    const name = uniqueName("stays");
    const path = cloud.pathOf(name);
    await cloud.create(name, 2);
    await cloud.complete();
    await cloud.resources.runResource({ path, operation: "resize", quantities: { [cloud.cores]: 8 } });
    await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "NO_CAPACITY" });
    expect(await cloud.resources.getResource({ path })).toMatchObject({
      state: Resource_State.ACTIVE,
      quantities: { [cloud.cores]: 2 },
      givenQuantities: { [cloud.cores]: 2 },
    });
  });

  test("can be retried with increasing delays, ten times in all", async () => {
    const name = uniqueName("stubborn");
    const { path } = await cloud.create(name);
    const pauses: number[][] = [];
    for (let attempt = 1; attempt <= 10; attempt++) {
      const claim = await cloud.claim();
      expect(claim).toMatchObject({ attempt, operation: { path } });
      const [begun] = await sql.query("select clock_timestamp()::text as time");
      const failed = await cloud.provider.failOperation({ ...cloud.present(claim), reason: "BUSY", retry: true });
      expect(failed.state).toBe(attempt < 10 ? Operation_State.PENDING : Operation_State.FAILED);
      const [row] = await sql.query(
        `select ceil(extract(epoch from next_attempt_time - $2::timestamptz))::int as most,
          floor(extract(epoch from next_attempt_time - clock_timestamp()))::int as least from operations where id = $1`,
        [idIn(path), begun?.["time"]],
      );
      pauses.push([Number(row?.["least"]), Number(row?.["most"])]);
      await makeDue(path);
    }
    const expected = [2, 4, 8, 16, 32, 64, 128, 256, 512];
    const isBetween = ([least = 0, most = 0]: number[], index: number) =>
      least <= (expected[index] ?? 0) && (expected[index] ?? 0) <= most;
    // How long the call took is not known, but by how much at most.
    expect(pauses.slice(0, 9).filter((pause, index) => !isBetween(pause, index))).toEqual([]);
    expect(await stateOf(cloud.pathOf(name))).toBe(Resource_State.FAILED);
  });

  test("to respond in any attempt ends the operation, too", async () => {
    const name = uniqueName("absent");
    const { path } = await cloud.create(name);
    for (let attempt = 1; attempt <= 10; attempt++) {
      expect((await cloud.claim()).attempt).toBe(attempt);
      await makeDue(path);
    }
    expect((await cloud.provider.claimOperations({ servicePath: cloud.servicePath })).claims).toEqual([]);
    const ended = await cloud.operations.waitOperation({ path, timeout: { seconds: 25n } });
    expect(ended).toMatchObject({ state: Operation_State.FAILED, error: { reason: "ATTEMPTS_EXHAUSTED" } });
    expect(await stateOf(cloud.pathOf(name))).toBe(Resource_State.FAILED);
  });
});

describe("a cancellation", () => {
  test("ends an operation that nobody has claimed: the resource to be created is removed", async () => {
    const name = uniqueName("unwanted");
    const { path } = await cloud.create(name);
    const cancelled = await cloud.operations.cancelOperation({ path });
    expect(cancelled).toMatchObject({ state: Operation_State.CANCELLED, done: true });
    expect(await failureOf(cloud.resources.getResource({ path: cloud.pathOf(name) }))).toMatchObject({
      code: "NotFound",
    });
    expect((await cloud.provider.claimOperations({ servicePath: cloud.servicePath })).claims).toEqual([]);
    expect((await cloud.operations.cancelOperation({ path })).etag).toBe(cancelled.etag);
  });

  test("of a change that nobody has claimed leaves the resource as it was", async () => {
    const name = uniqueName("kept");
    await cloud.create(name);
    await cloud.complete();
    const path = cloud.pathOf(name);
    const operation = await cloud.resources.deleteResource({ path });
    await cloud.operations.cancelOperation({ path: operation.path });
    expect(await cloud.resources.getResource({ path })).toMatchObject({
      state: Resource_State.ACTIVE,
      operationPath: "",
    });
  });

  test("between two attempts is left to the provider, immediately, since it may have to undo something", async () => {
    const { path } = await cloud.create(uniqueName("half"));
    await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "BUSY", retry: true });
    expect(await cloud.operations.cancelOperation({ path })).toMatchObject({ done: false, cancelRequested: true });
    const claim = await cloud.claim();
    expect(claim).toMatchObject({ attempt: 2, operation: { path, cancelRequested: true } });
    const ended = await cloud.provider.failOperation({ ...cloud.present(claim), reason: "CANCELLED" });
    expect(ended.state).toBe(Operation_State.CANCELLED);
  });

  test("reaches the provider, which stops or completes the operation", async () => {
    for (const stops of [true, false]) {
      const { path } = await cloud.create(uniqueName("running"));
      const claim = await cloud.claim();
      expect(await cloud.operations.cancelOperation({ path })).toMatchObject({ done: false, cancelRequested: true });
      expect((await cloud.provider.renewOperation(cloud.present(claim))).cancelRequested).toBe(true);
      const ended = stops
        ? await cloud.provider.failOperation({ ...cloud.present(claim), reason: "CANCELLED", retry: true })
        : await cloud.provider.completeOperation(cloud.present(claim));
      expect(ended.state).toBe(stops ? Operation_State.CANCELLED : Operation_State.SUCCEEDED);
    }
  });
});

describe("a report", () => {
  const report = async (name: string, fields: object) => {
    const { id } = await cloud.resources.getResource({ path: cloud.pathOf(name) });
    const resourcePath = `orgs/-/projects/-/resources/@${id}`;
    return cloud.provider.reportResource({ servicePath: cloud.servicePath, resourcePath, ...fields });
  };

  test("says that a resource has failed, works again, or has grown", async () => {
    const name = uniqueName("reported");
    await cloud.create(name, 2);
    await cloud.complete();
    expect(await report(name, { state: Resource_State.FAILED, stateReason: "the host is down" })).toMatchObject({
      state: Resource_State.FAILED,
      stateReason: "the host is down",
    });
    const back = await report(name, {
      state: Resource_State.ACTIVE,
      givenQuantities: { [cloud.cores]: 4 },
      outputs: { host: "b" },
    });
    expect(back).toMatchObject({ state: Resource_State.ACTIVE, stateReason: "", outputs: { host: "b" } });
    expect(back).toMatchObject({ quantities: { [cloud.cores]: 2 }, givenQuantities: { [cloud.cores]: 4 } });
    const kept = await report(name, {});
    expect(kept).toMatchObject({ state: Resource_State.ACTIVE, outputs: { host: "b" } });
  });

  test("is refused while an operation changes the resource, for less than was wanted, and for states of operations", async () => {
    const name = uniqueName("reported");
    await cloud.create(name, 2);
    expect(await failureOf(report(name, { state: Resource_State.FAILED }))).toMatchObject({ reason: "STATE_FORBIDS" });
    await cloud.complete();
    const less = await failureOf(report(name, { givenQuantities: { [cloud.cores]: 1 } }));
    expect(less).toMatchObject({ fields: [`given_quantities["${cloud.cores}"]`] });
    expect(await failureOf(report(name, { state: Resource_State.DELETING }))).toMatchObject({ fields: ["state"] });
  });

  test("cannot be about resources of another service", async () => {
    const another = await openCloud("REST", server.url, server.operatorKey);
    await another.create("theirs");
    await another.complete();
    const { servicePath } = cloud;
    const stolen = cloud.provider.reportResource({ servicePath, resourcePath: another.pathOf("theirs") });
    expect(await failureOf(stolen)).toMatchObject({ code: "NotFound" });
  });
});

describe("operations continue", () => {
  test("below a project and an org that are suspended in the meantime", async () => {
    const name = uniqueName("below");
    const { path } = await cloud.create(name);
    const claim = await cloud.claim();
    await cloud.api.projects.suspendProject({ path: cloud.project });
    await cloud.api.orgs.suspendOrg({ path: cloud.org });
    expect((await cloud.provider.completeOperation(cloud.present(claim))).state).toBe(Operation_State.SUCCEEDED);
    expect(await failureOf(cloud.create(uniqueName("new")))).toMatchObject({ reason: "STATE_FORBIDS" });
    await cloud.api.orgs.activateOrg({ path: cloud.org });
    await cloud.api.projects.activateProject({ path: cloud.project });
    expect((await cloud.operations.getOperation({ path })).done).toBe(true);
  });
});

test("a claim is found by the path that it had, although its project was renamed since", async () => {
  const { api, provider, servicePath } = cloud;
  const project = await api.projects.createProject({ parentPath: cloud.org, project: { name: uniqueName("old") } });
  const { resourcePath } = await cloud.resources.createResource({
    parentPath: project.path,
    resource: { name: "db", typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } },
  });
  const claim = await cloud.claim();
  const name = uniqueName("new");
  const renamed = await api.projects.updateProject({ path: project.path, project: { name } });
  // Another project has the old name now.
  await api.projects.createProject({ parentPath: cloud.org, project: { name: project.name } });
  await provider.renewOperation(cloud.present(claim));
  const done = await provider.completeOperation(cloud.present(claim));
  expect(done.resourcePath).toBe(`${renamed.path}/resources/db`);
  const byId = resourcePath.replace(/[^/]+$/, `@${required(claim.resource).id}`);
  const state = Resource_State.FAILED;
  expect((await provider.reportResource({ servicePath, resourcePath: byId, state })).path).toBe(done.resourcePath);
  // By name, it would be the resource of the other project.
  const byName = failureOf(provider.reportResource({ servicePath, resourcePath, state }));
  expect(await byName).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
});

test("a given grade is not above the highest one of its kind", async () => {
  const { certificate, provider } = cloud;
  await cloud.create(uniqueName("graded"), 1, { qualities: { [certificate]: 1 } });
  const claim = await cloud.claim();
  const give = (grade: number) =>
    provider.completeOperation({ ...cloud.present(claim), givenQualities: { [certificate]: grade } });
  expect(await failureOf(give(3))).toMatchObject({ fields: [`given_qualities["${certificate}"]`] });
  expect((await give(2)).givenQualities).toEqual({ [certificate]: 2 });
});

test("the change log has each start and each end of an operation, but neither claims nor progress", async () => {
  const logged = await openCloud("REST", server.url, server.operatorKey);
  await logged.create("logged");
  const claim = await logged.claim();
  await logged.provider.renewOperation({ ...logged.present(claim), progressPercent: 50 });
  await logged.provider.completeOperation(logged.present(claim));
  const { id } = await logged.api.orgs.getOrg({ path: logged.org });
  const entries = await sql.query(
    `select concat_ws(' ', split_part(method, '/', 2), resource_type, before->>'state', after->>'state') as entry
     from changes where org_id = $1 and resource_type in ('Resource', 'Operation') order by revision, position`,
    [id],
  );
  expect(entries.map(({ entry }) => entry)).toEqual([
    "CreateResource Resource CREATING",
    "CreateResource Operation PENDING",
    "CompleteOperation Resource CREATING ACTIVE",
    "CompleteOperation Operation RUNNING SUCCEEDED",
  ]);
});
