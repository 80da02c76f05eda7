// Resources follow the state of their project and org: they are deleted, suspended and resumed with it, by operations that their
// provider carries out.
import { enumToJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { Resource_State, Resource_StateSchema } from "../../gen/resources/v1alpha/resource_pb.ts";
import { openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { createPurgeJob } from "../../src/jobs/purge/purge-job.ts";
import { registry } from "../../src/resource-registry.ts";
import pino from "pino";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type Cloud, openCloud } from "./cloud.ts";

const patience = { interval: 50 };

let server: SharedServer;
let sql: SqlClient;
let cloud: Cloud;
/** A type with the operations suspend and resume, beside the type without them. */
let machines: string;

beforeAll(async () => {
  server = await sharedServer();
  // Both sweep.
  await secondSharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(() => sql.close());

beforeEach(async () => {
  cloud = await openCloud("Connect", server.url, server.operatorKey);
  const operations = ["create", "delete", "suspend", "resume", "resize"].map((verb) => ({ verb }));
  const resourceType = { name: "machines", collection: "machines", operations };
  machines = (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
});

/** Creates a machine that is ACTIVE. */
async function createMachine(name: string, parentPath = cloud.project): Promise<string> {
  const { resourcePath } = await cloud.resources.createResource({ parentPath, resource: { name, typePath: machines } });
  await cloud.complete();
  return resourcePath;
}

/** Completes operations, and returns their verbs, until there were so many. */
async function completeAll(count: number): Promise<string[]> {
  const verbs: string[] = [];
  while (verbs.length < count) verbs.push(...(await completeSome(count - verbs.length)).map(({ verb }) => verb));
  return verbs;
}

/** Waits for an operation and completes it. */
async function nextOperation(): Promise<Operation> {
  return required((await completeSome(1))[0]);
}

/** Waits for operations and completes them. */
async function completeSome(maxOperations: number): Promise<Operation[]> {
  const { servicePath, provider } = cloud;
  const { claims } = await provider.claimOperations({ servicePath, maxOperations, wait: { seconds: 20n } });
  return Promise.all(claims.map((claim) => provider.completeOperation(cloud.present(claim))));
}

async function stateOf(path: string): Promise<unknown> {
  const { state } = await cloud.resources.getResource({ path });
  return enumToJson(Resource_StateSchema, state);
}

const namesIn = async (parentPath: string): Promise<string[]> =>
  (await cloud.resources.listResources({ parentPath })).resources.map(({ name }) => name);

test("sweeps that always fail do not hold up the others", async () => {
  // Sweeps of orgs that do not exist: more than a run takes, and all of them have waited longer.
  await sql.query(`insert into sweeps (customer_id, org_id, scope_id, next_time)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour' from generate_series(1, 50)`);
  const { api, org } = cloud;
  const project = await api.projects.createProject({ parentPath: org, project: { name: uniqueName("behind") } });
  await cloud.resources.createResource({
    parentPath: project.path,
    resource: { name: "db-1", typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } },
  });
  await cloud.complete();
  await api.projects.deleteProject({ path: project.path, force: true });
  expect((await nextOperation()).verb).toBe("delete");
  await sql.query("delete from sweeps where not exists (select from orgs where orgs.id = sweeps.org_id)");
});

describe("when a project is suspended", () => {
  test("its resources are, and resumed when it is activated", async () => {
    const { api, project } = cloud;
    const path = await createMachine("db-1");
    await api.projects.suspendProject({ path: project });
    expect(await nextOperation()).toMatchObject({ verb: "suspend", resourcePath: path, memberPath: "" });
    expect(await stateOf(path)).toBe("SUSPENDED");
    await api.projects.activateProject({ path: project });
    expect(await nextOperation()).toMatchObject({ verb: "resume", resourcePath: path });
    expect(await stateOf(path)).toBe("ACTIVE");
  });

  test("what is being changed follows when that is done", async () => {
    const { api, project, resources } = cloud;
    const path = await createMachine("db-1");
    await resources.runResource({ path, operation: "resize" });
    await api.projects.suspendProject({ path: project });
    expect(await completeAll(2)).toEqual(["resize", "suspend"]);
    expect(await stateOf(path)).toBe("SUSPENDED");
    await api.projects.activateProject({ path: project });
    expect(await completeAll(1)).toEqual(["resume"]);
  });

  test("an activation that comes before the suspension is carried out has the last word", async () => {
    const { api, project } = cloud;
    const path = await createMachine("db-1");
    await api.projects.suspendProject({ path: project });
    await expect.poll(() => stateOf(path), patience).toBe("UPDATING");
    await api.projects.activateProject({ path: project });
    expect(await completeAll(2)).toEqual(["suspend", "resume"]);
    expect(await stateOf(path)).toBe("ACTIVE");
  });

  test("callers cancel no operations in it until it is activated", async () => {
    const { api, project, operations } = cloud;
    const path = await createMachine("db-1");
    const { path: creating } = await cloud.create("db-2");
    await api.projects.suspendProject({ path: project });
    const listOpen = async () =>
      (await operations.listOperations({ parentPath: project, filter: "state = PENDING" })).operations;
    await expect.poll(async () => (await listOpen()).map(({ verb }) => verb), patience).toEqual(["create", "suspend"]);
    for (const open of await listOpen()) {
      for (const validateOnly of [true, false]) {
        const refused = await failureOf(operations.cancelOperation({ path: open.path, validateOnly }));
        expect(refused).toMatchObject({
          code: "FailedPrecondition",
          reason: "STATE_FORBIDS",
          metadata: { resource: project, state: "SUSPENDED" },
        });
      }
    }
    expect(await completeAll(1)).toEqual(["create"]);
    await api.projects.activateProject({ path: project });
    await operations.cancelOperation({ path: required((await listOpen())[0]).path });
    expect(await stateOf(path)).toBe("ACTIVE");
    expect(await operations.getOperation({ path: creating })).toMatchObject({ state: Operation_State.SUCCEEDED });
  });

  test("resources of a type without these operations stay as they are", async () => {
    const { api, project, resources } = cloud;
    await cloud.create("plain");
    await cloud.complete();
    const path = await createMachine("follows");
    await api.projects.suspendProject({ path: project });
    expect(await nextOperation()).toMatchObject({ resourcePath: path });
    expect(await stateOf(cloud.pathOf("plain"))).toBe("ACTIVE");
    const found = await resources.listResources({ parentPath: project, filter: `state = "SUSPENDED"` });
    expect(found.resources.map(({ name }) => name)).toEqual(["follows"]);
  });

  test("a resource that works again, as its provider reports, is suspended", async () => {
    const { api, project, provider, servicePath } = cloud;
    const path = await createMachine("db-1");
    const report = { servicePath, resourcePath: path };
    await provider.reportResource({ ...report, state: Resource_State.FAILED, stateReason: "The disk is broken" });
    await api.projects.suspendProject({ path: project });
    await provider.reportResource({ ...report, state: Resource_State.ACTIVE });
    expect(await completeAll(1)).toEqual(["suspend"]);
    // It works, and stays suspended.
    await provider.reportResource({ ...report, state: Resource_State.ACTIVE });
    expect(await stateOf(path)).toBe("SUSPENDED");
  });
});

test("the resources in all projects of an org follow it, more than a step changes too", async () => {
  const { api, org, resources } = cloud;
  const { path: other } = await api.projects.createProject({ parentPath: org, project: { name: "other" } });
  const count = 22;
  for (const [parentPath, size] of [
    [other, 7],
    [cloud.project, count - 7],
  ] as const) {
    const named = Array.from({ length: size }, (_, index) => ({ name: `m-${index}`, typePath: machines }));
    await resources.batchCreateResources({ parentPath, requests: named.map((resource) => ({ resource })) });
  }
  await completeAll(count);
  await api.orgs.suspendOrg({ path: org });
  expect(await completeAll(count)).toEqual(Array.from({ length: count }, () => "suspend"));
  const parentPath = `${org}/projects/-`;
  const left = await resources.listResources({ parentPath, filter: `state != "SUSPENDED"` });
  expect(left.resources).toEqual([]);
  await api.orgs.activateOrg({ path: org });
  expect(await completeAll(count)).toEqual(Array.from({ length: count }, () => "resume"));
});

test("callers do not suspend or resume resources themselves", async () => {
  const path = await createMachine("db-1");
  for (const operation of ["suspend", "resume"]) {
    expect(await failureOf(cloud.resources.runResource({ path, operation }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["operation"],
    });
  }
});

describe("a type", () => {
  test.each([
    ["create", "delete"],
    ["suspend", "resume"],
    ["resume", "suspend"],
  ])("with an operation %s must have one for %s", async (verb, other) => {
    const name = uniqueName("half");
    const resourceType = { name, collection: name, operations: [{ verb }] };
    const refused = await failureOf(cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType }));
    expect(refused).toMatchObject({ code: "InvalidArgument", fields: ["resource_type.operations"] });
    expect(refused.message).toContain(`an operation ${other}`);
  });

  test("requires nothing for operations that the service starts", async () => {
    const name = uniqueName("needy");
    const quantities = [{ kind: cloud.cores, required: true }];
    const operations = [{ verb: "create" }, { verb: "delete", quantities }];
    const resourceType = { name, collection: name, operations };
    expect(
      await failureOf(cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })),
    ).toMatchObject({ fields: ["resource_type.operations[1].quantities[0].required"] });
    // A quota that refuses the default would stop the sweep of all other resources.
    const resume = { verb: "resume", quantities: [{ kind: cloud.cores, defaultAmount: 9 }] };
    const greedy = { name, collection: name, operations: [{ verb: "delete" }, { verb: "suspend" }, resume] };
    expect(
      await failureOf(cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType: greedy })),
    ).toMatchObject({ fields: ["resource_type.operations[2].quantities[0].default_amount"] });
  });
});

describe("a deletion with force", () => {
  test("is needed for a project with resources, and has them deleted", async () => {
    const { api, project, provider, operations } = cloud;
    await createMachine("idle");
    await cloud.create("claimed");
    const claim = await cloud.claim();
    await cloud.create("waiting");
    const refused = await failureOf(api.projects.deleteProject({ path: project }));
    expect(refused).toMatchObject({ code: "FailedPrecondition", reason: "RESOURCE_IN_USE" });
    expect(refused.message).toContain("set force");

    const deleted = await api.projects.deleteProject({ path: project, force: true });
    expect(deleted.deleteTime).toBeDefined();
    // What nobody has begun ends at once; of what the provider has begun, it is asked to cancel.
    await expect.poll(() => namesIn(deleted.path), patience).toEqual(["idle", "claimed"]);
    const claimed = `${deleted.path}/operations/@${claim.operation!.id}`;
    expect(await operations.getOperation({ path: claimed })).toMatchObject({ cancelRequested: true });
    expect(await nextOperation()).toMatchObject({ verb: "delete" });
    await provider.completeOperation(cloud.present(claim));
    expect(await completeAll(1)).toEqual(["delete"]);
    expect(await namesIn(deleted.path)).toEqual([]);
  });

  test("is not cancelled by callers, one resource at a time", async () => {
    const { api, project, operations } = cloud;
    await createMachine("db-1");
    const deleted = await api.projects.deleteProject({ path: project, force: true });
    const find = async () =>
      (await operations.listOperations({ parentPath: deleted.path, filter: 'verb = "delete"' })).operations;
    await expect.poll(find, patience).toHaveLength(1);
    const { path } = required((await find())[0]);
    const refused = await failureOf(operations.cancelOperation({ path }));
    expect(refused).toMatchObject({ reason: "STATE_FORBIDS", metadata: { resource: deleted.path, state: "DELETED" } });
    expect(await completeAll(1)).toEqual(["delete"]);
  });

  test("tries again what could not be deleted", async () => {
    const { api, project, provider, servicePath } = cloud;
    await createMachine("stubborn");
    const { path } = await api.projects.deleteProject({ path: project, force: true });
    const { claims } = await provider.claimOperations({ servicePath, wait: { seconds: 20n } });
    await provider.failOperation({ ...cloud.present(claims[0]!), reason: "BUSY" });
    expect(await completeAll(1)).toEqual(["delete"]);
    expect(await namesIn(path)).toEqual([]);
  });

  test("deletes the resources of an org, and of all orgs of a customer", async () => {
    const { api, org, project } = cloud;
    const { customerPath } = await api.orgs.getOrg({ path: org });
    const sibling = (await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } })).path;
    const { path: inSibling } = await api.projects.createProject({ parentPath: sibling, project: { name: "web" } });
    await createMachine("one");
    await createMachine("two", inSibling);
    const deleted = await api.orgs.deleteOrg({ path: sibling, force: true });
    expect(await nextOperation()).toMatchObject({ verb: "delete" });
    expect(await namesIn(`${deleted.path}/projects/-`)).toEqual([]);
    expect(await namesIn(project)).toEqual(["one"]);

    expect(await failureOf(api.customers.deleteCustomer({ path: customerPath }))).toMatchObject({
      reason: "RESOURCE_IN_USE",
    });
    await api.customers.deleteCustomer({ path: customerPath, force: true });
    expect(await completeAll(1)).toEqual(["delete"]);
  });

  test("keeps what it deletes from being purged before the resources are gone", async () => {
    const { api, project } = cloud;
    await createMachine("slow");
    const { path } = await api.projects.deleteProject({ path: project, force: true });
    await api.projects.purgeProject({ path });
    await purge();
    expect((await api.projects.getProject({ path })).path).toBe(path);
    expect(await completeAll(1)).toEqual(["delete"]);
    await purge();
    expect(await failureOf(api.projects.getProject({ path }))).toMatchObject({ code: "NotFound" });
  });

  test("that is only validated deletes nothing", async () => {
    const { api, project } = cloud;
    const path = await createMachine("kept");
    await api.projects.deleteProject({ path: project, force: true, validateOnly: true });
    await api.projects.suspendProject({ path: project });
    expect(await completeAll(1)).toEqual(["suspend"]);
    expect(await stateOf(path)).toBe("SUSPENDED");
  });

  test("leaves the resources that are not deleted yet when the project is restored", async () => {
    const { api, project, operations } = cloud;
    const path = await createMachine("saved");
    await cloud.resources.runResource({ path, operation: "resize" });
    const claim = await cloud.claim();
    const deleted = await api.projects.deleteProject({ path: project, force: true });
    const claimed = `${deleted.path}/operations/@${claim.operation!.id}`;
    const isCancelled = async () => (await operations.getOperation({ path: claimed })).cancelRequested;
    await expect.poll(isCancelled, patience).toBe(true);
    await api.projects.undeleteProject({ path: deleted.path });
    await cloud.provider.failOperation({ ...cloud.present(claim), reason: "STOPPED" });
    expect(await operations.getOperation({ path: claim.operation!.path })).toMatchObject({
      state: Operation_State.CANCELLED,
    });
    expect(await stateOf(path)).toBe("ACTIVE");
  });
});

/** Purges what can be purged, as the job of a server does. */
async function purge(): Promise<void> {
  const { databaseUrl } = server;
  const options = { maxReadConnections: 1, maxWriteConnections: 2, onConnectionError: () => {} };
  const database = openDatabase({ connection: { connectionString: databaseUrl }, ...options });
  const { id: systemOrgId } = await cloud.api.orgs.getOrg({ path: "/orgs/system" });
  const logger = pino({ level: "silent" });
  const installation = { systemOrgId };
  const job = createPurgeJob({ database, registry, installation, retentionDays: 30, intervalMs: 3_600_000, logger });
  await job.runOnce();
  await job.close();
  await database.close();
}

test("a sweep goes on when a resource may have to follow, and not for each that is gone", async () => {
  const { provider, servicePath } = cloud;
  await createMachine("gone");
  const resource = { name: "late", typePath: machines };
  await cloud.resources.createResource({ parentPath: cloud.project, resource });
  const creation = await cloud.claim();
  await cloud.api.projects.deleteProject({ path: cloud.project, force: true });
  const { claims } = await provider.claimOperations({ servicePath, wait: { seconds: 20n } });
  const deletion = required(claims[0]);
  expect(deletion.operation?.verb).toBe("delete");

  const ofProject = "org_id = (select org_id from operations where id = $1)";
  const id = required(deletion.operation).id;
  await sql.query(`update sweeps set next_time = now() + interval '1 hour' where ${ofProject}`, [id]);
  await provider.completeOperation(cloud.present(deletion));
  const pauses = await sql.query(
    `select next_time > now() + interval '30 minutes' as waits from sweeps where ${ofProject}`,
    [id],
  );
  expect(pauses).toEqual([{ waits: true }]);
  await provider.completeOperation(cloud.present(creation));
  expect(await nextOperation()).toMatchObject({ verb: "delete" });
});
