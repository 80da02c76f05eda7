// Resources of a type with the operations undelete and purge: deleted ones can be restored until they are purged.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { type Resource, Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
let second: SharedServer;
let sql: SqlClient;
let cloud: Cloud;
/** A type with undelete and purge, whose resources can use others of it. */
let disks: string;

const verbs = ["delete", "undelete", "purge", "suspend", "resume"];

beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("REST", server.url, server.operatorKey);
  const quantities = [{ kind: cloud.cores, counted: true }];
  const references = [{ name: "disk", typePath: `${cloud.servicePath}/resourceTypes/disks` }];
  const parentPath = cloud.servicePath;
  const operations = [{ verb: "create", quantities }, ...verbs.map((verb) => ({ verb }))];
  const named = { name: "disks", collection: "disks" };
  disks = (await cloud.types.createResourceType({ parentPath, resourceType: { ...named, operations } })).path;
  const [create, ...rest] = operations;
  const withReferences = {
    operations: [{ ...create, references }, { verb: "resize" }, { verb: "attach", references }, ...rest],
  };
  await cloud.types.updateResourceType({ path: disks, resourceType: withReferences });
});
afterAll(async () => {
  await sql.close();
});

const { ACTIVE, DELETED, UPDATING } = Resource_State;

interface Disk {
  readonly name: string;
  /** The path by id, which stays. */
  readonly byId: string;
}

async function createDisk(fields: object = {}, parentPath = cloud.project): Promise<Disk> {
  const name = uniqueName("disk");
  const resource = { name, typePath: disks, quantities: { [cloud.cores]: 2 }, ...fields };
  const { resourcePath } = await cloud.resources.createResource({ parentPath, resource });
  await finish("create");
  const { id } = await cloud.resources.getResource({ path: resourcePath });
  return { name, byId: `${parentPath}/resources/@${id}` };
}

async function createDeleted(fields: object = {}, parentPath = cloud.project): Promise<Disk> {
  const disk = await createDisk(fields, parentPath);
  await cloud.resources.deleteResource({ path: disk.byId });
  await finish("delete");
  return disk;
}

/** Waits for the next operation, which has a verb, and completes it or lets it fail. */
async function finish(verb: string, failure?: string): Promise<Operation> {
  const { servicePath, provider } = cloud;
  const { claims } = await provider.claimOperations({ servicePath, wait: { seconds: 20n } });
  const claim = required(claims[0]);
  expect(claim.operation?.verb).toBe(verb);
  if (failure === undefined) return provider.completeOperation(cloud.present(claim));
  return provider.failOperation({ ...cloud.present(claim), reason: "BROKEN", message: failure });
}

const read = (path: string): Promise<Resource> => cloud.resources.getResource({ path });
const purge = (path: string) => cloud.resources.runResource({ path, operation: "purge" });

async function usageOf(parentPath: string): Promise<number> {
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  const { usage, reserved } = await quotas.getQuota({ parentPath });
  return (usage[cloud.cores] ?? 0) + (reserved[cloud.cores] ?? 0);
}

async function createProject(): Promise<string> {
  const project = { name: uniqueName("project") };
  return (await cloud.api.projects.createProject({ parentPath: cloud.org, project })).path;
}

test("a deleted resource is read by its id, listed on request, and still counted", async () => {
  const parentPath = await createProject();
  const { name, byId } = await createDeleted({}, parentPath);
  const deleted = await read(byId);
  expect(deleted).toMatchObject({ path: byId, state: DELETED, operationPath: "", name });
  const kept = Number(deleted.purgeTime?.seconds) - Number(deleted.deleteTime?.seconds);
  expect(kept).toBe(30 * 86_400);
  expect(await failureOf(read(`${parentPath}/resources/${name}`))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  const list = async (filter: string, showDeleted: boolean) =>
    (await cloud.resources.listResources({ parentPath, filter, showDeleted })).resources.map(({ path }) => path);
  expect(await list("", false)).toEqual([]);
  expect(await list("", true)).toEqual([byId]);
  expect(await list("state = DELETED", true)).toEqual([byId]);
  expect(await list("state != DELETED", true)).toEqual([]);
  expect(await usageOf(parentPath)).toBe(2);
  const { operations } = await cloud.operations.listOperations({ parentPath });
  expect(operations.map(({ resourcePath }) => resourcePath)).toEqual([byId, byId]);
});

test("an undelete restores it under its name", async () => {
  const { name, byId } = await createDeleted();
  const started = await cloud.resources.undeleteResource({ path: byId });
  const path = cloud.pathOf(name);
  expect(started).toMatchObject({ verb: "undelete", resourcePath: path, state: Operation_State.PENDING });
  expect(await read(path)).toMatchObject({ state: UPDATING, operationPath: started.path });
  await finish("undelete");
  const restored = await read(path);
  expect(restored).toMatchObject({ state: ACTIVE, operationPath: "" });
  expect([restored.deleteTime, restored.purgeTime]).toEqual([undefined, undefined]);
});

test("an undelete that fails or is cancelled leaves it deleted", async () => {
  const { name, byId } = await createDeleted();
  await cloud.resources.undeleteResource({ path: byId });
  await finish("undelete", "the disk does not spin");
  expect(await read(byId)).toMatchObject({ path: byId, state: DELETED, stateReason: "" });
  const { path } = await cloud.resources.undeleteResource({ path: byId });
  await cloud.operations.cancelOperation({ path });
  expect(await read(byId)).toMatchObject({ path: byId, state: DELETED, operationPath: "" });
  // Its name is free again.
  const other = { name, typePath: disks };
  await cloud.resources.createResource({ parentPath: cloud.project, resource: other });
  await finish("create");
});

test("the name of a deleted resource can be taken, and an undelete then fails", async () => {
  const { name, byId } = await createDeleted();
  await cloud.resources.createResource({ parentPath: cloud.project, resource: { name, typePath: disks } });
  await finish("create");
  const taken = cloud.resources.undeleteResource({ path: byId });
  expect(await failureOf(taken)).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS" });
  expect(await read(byId)).toMatchObject({ state: DELETED, operationPath: "" });
});

test("a resource is not restored beyond the limit of its project", async () => {
  const parentPath = await createProject();
  const { byId } = await createDeleted({}, parentPath);
  const other = await createDisk({}, parentPath);
  const limited = await startTestServer({ databaseUrl: server.databaseUrl, limits: { Resource: 1 } });
  onTestFinished(() => limited.close());
  const { resources } = createResourcesApi("REST", limited.url, server.operatorKey);
  expect(await failureOf(resources.undeleteResource({ path: byId }))).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  expect(await read(byId)).toMatchObject({ state: DELETED, operationPath: "" });
  await resources.deleteResource({ path: other.byId });
  await finish("delete");
  await resources.undeleteResource({ path: byId });
  await finish("undelete");
  expect(await read(byId)).toMatchObject({ state: ACTIVE });
});

test("a deleted resource is not changed, deleted or used, and one that is not is not restored or purged", async () => {
  const { byId } = await createDeleted();
  const { resources, provider, servicePath } = cloud;
  const resource = { name: uniqueName("user"), typePath: disks, references: { disk: byId } };
  const using = await failureOf(resources.createResource({ parentPath: cloud.project, resource }));
  expect(using).toMatchObject({ fields: ['resource.references["disk"]'] });
  expect(using.message).toContain("is DELETED");
  const live = await createDisk();
  const refused = [
    resources.updateResource({ path: byId, resource: { displayName: "x" } }),
    resources.deleteResource({ path: byId }),
    resources.runResource({ path: byId, operation: "resize" }),
    resources.batchDeleteResources({ parentPath: cloud.project, paths: [byId] }),
    provider.reportResource({ servicePath, resourcePath: byId, state: ACTIVE }),
    resources.undeleteResource({ path: live.byId }),
    purge(live.byId),
  ];
  const reasons = (await Promise.all(refused.map(failureOf))).map(({ reason }) => reason);
  expect(reasons).toEqual(refused.map(() => "STATE_FORBIDS"));
  const run = resources.runResource({ path: byId, operation: "undelete" });
  expect(await failureOf(run)).toMatchObject({ fields: ["operation"] });
});

test("what is being undeleted or purged is not used before it is ACTIVE", async () => {
  const { byId } = await createDeleted();
  const live = await createDisk();
  const { resources } = cloud;
  const attempts = () => [
    resources.createResource({
      parentPath: cloud.project,
      resource: { name: uniqueName("user"), typePath: disks, references: { disk: byId } },
    }),
    resources.runResource({ path: live.byId, operation: "attach", references: { disk: byId } }),
  ];
  const expectRefused = async (message: string): Promise<void> => {
    const failures = await Promise.all(attempts().map(failureOf));
    expect(failures).toMatchObject([
      { code: "InvalidArgument", fields: ['resource.references["disk"]'] },
      { code: "InvalidArgument", fields: ['references["disk"]'] },
    ]);
    for (const failure of failures) expect(failure.message).toContain(message);
  };
  const undelete = () => resources.undeleteResource({ path: byId });

  await undelete();
  await expectRefused("is being undeleted: must be ACTIVE");
  await finish("undelete", "the disk does not spin");
  const { path } = await undelete();
  await expectRefused("is being undeleted: must be ACTIVE");
  await cloud.operations.cancelOperation({ path });
  const purging = await purge(byId);
  await expectRefused("is DELETED");
  await cloud.operations.cancelOperation({ path: purging.path });

  await undelete();
  await finish("undelete");
  await resources.runResource({ path: byId, operation: "resize" });
  await resources.runResource({ path: live.byId, operation: "attach", references: { disk: byId } });
  await finish("resize");
  await finish("attach");
  expect(await failureOf(resources.deleteResource({ path: byId }))).toMatchObject({ reason: "RESOURCE_IN_USE" });
});

test("a deleted resource that another one uses is not purged", async () => {
  const { byId } = await createDeleted();
  const user = await createDisk();
  const [usedId, userId] = [byId, user.byId].map((path) => required(path.split("/@").at(-1)));
  // As earlier versions of the service could leave it.
  await sql.query(
    `insert into resource_references (customer_id, org_id, resource_id, target_id)
     select customer_id, org_id, $1, id from resources where id = $2`,
    [userId, usedId],
  );
  const refused = await failureOf(purge(byId));
  expect(refused).toMatchObject({ reason: "RESOURCE_IN_USE", metadata: { used_by: cloud.pathOf(user.name) } });
  await sql.query("update resources set purge_time = now() where id = $1", [usedId]);
  const waits = () =>
    sql.query(
      "select rounds > 0 as waits from sweeps where scope_id = (select project_id from resources where id = $1)",
      [usedId],
    );
  await expect.poll(waits).toEqual([{ waits: true }]);
  expect(await read(byId)).toMatchObject({ state: DELETED, operationPath: "" });

  await sql.query("delete from resource_references where target_id = $1", [usedId]);
  await finish("purge");
  expect(await failureOf(read(byId))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
});

test("what a deleted resource refers to is kept until it is purged", async () => {
  const used = await createDisk();
  const { byId } = await createDeleted({ references: { disk: used.byId } });
  const inUse = await failureOf(cloud.resources.deleteResource({ path: used.byId }));
  expect(inUse).toMatchObject({ reason: "RESOURCE_IN_USE" });
  expect(inUse.message).toContain(`${byId}: purge that first`);
  await purge(byId);
  await finish("purge");
  await cloud.resources.deleteResource({ path: used.byId });
  await finish("delete");
});

test("a purge removes it and frees what it held", async () => {
  const parentPath = await createProject();
  const { byId } = await createDeleted({}, parentPath);
  const { path } = await purge(byId);
  expect(await read(byId)).toMatchObject({ state: DELETED, operationPath: path });
  expect(await usageOf(parentPath)).toBe(2);
  await finish("purge");
  expect(await failureOf(read(byId))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  expect(await usageOf(parentPath)).toBe(0);
});

test("a purge that is cancelled can be followed by an undelete, one that failed cannot", async () => {
  const { byId } = await createDeleted();
  const { path } = await purge(byId);
  await cloud.operations.cancelOperation({ path });
  await cloud.resources.undeleteResource({ path: byId });
  await finish("undelete");
  await cloud.resources.deleteResource({ path: byId });
  await finish("delete");
  await purge(byId);
  await finish("purge", "the shredder is full");
  expect(await read(byId)).toMatchObject({ state: DELETED, stateReason: "the shredder is full" });
  expect(await failureOf(cloud.resources.undeleteResource({ path: byId }))).toMatchObject({ reason: "STATE_FORBIDS" });
  // The service purges it, as its purge time has passed.
  await finish("purge");
  expect(await failureOf(read(byId))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
});

test("the service purges it when its purge time has passed, also in a suspended project", async () => {
  const parentPath = await createProject();
  const { byId } = await createDeleted({}, parentPath);
  await cloud.api.projects.suspendProject({ path: parentPath });
  await sql.query("update resources set purge_time = now() where '@' || id = $1", [byId.split("/").at(-1)]);
  await finish("purge");
  expect(await failureOf(read(byId))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
});

test("a project that is deleted with force has its resources deleted and purged", async () => {
  const parentPath = await createProject();
  const earlier = await createDeleted({}, parentPath);
  const refused = await failureOf(cloud.api.projects.deleteProject({ path: parentPath }));
  expect(refused).toMatchObject({ reason: "RESOURCE_IN_USE" });
  await cloud.api.projects.deleteProject({ path: parentPath, force: true });
  await finish("purge");
  const [row] = await sql.query("select count(*)::int from resources where '@' || id = $1", [
    earlier.byId.split("/").at(-1),
  ]);
  expect(row).toEqual({ count: 0 });

  const other = await createProject();
  await createDisk({}, other);
  await cloud.api.projects.deleteProject({ path: other, force: true });
  await finish("delete");
  await finish("purge");
});

test("an undelete that is running when the project is deleted is cancelled, and the resource purged", async () => {
  const parentPath = await createProject();
  const { byId } = await createDeleted({}, parentPath);
  const { id } = await cloud.resources.undeleteResource({ path: byId });
  await cloud.api.projects.deleteProject({ path: parentPath, force: true });
  const ended = () => sql.query("select state from operations where id = $1", [id]);
  await expect.poll(ended).toEqual([{ state: "CANCELLED" }]);
  await finish("purge");
});

test("of an undelete and a purge at the same time on two servers, one wins", async () => {
  const other = createResourcesApi("gRPC", second.url, server.operatorKey);
  for (let round = 0; round < rounds(2, 200); round++) {
    const { name, byId } = await createDeleted();
    const calls = [
      cloud.resources.undeleteResource({ path: byId }),
      other.resources.runResource({ path: byId, operation: "purge" }),
    ];
    const ended = await Promise.allSettled(calls);
    const won = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value.verb] : []));
    expect(won).toHaveLength(1);
    const [lost] = ended.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
    expect(await failureOf(Promise.reject(lost as Error))).toMatchObject({ reason: "STATE_FORBIDS" });
    await finish(won[0] ?? "");
    if (won[0] === "undelete") expect((await read(cloud.pathOf(name))).state).toBe(ACTIVE);
    else expect(await failureOf(read(byId))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  }
});

test("a type has both operations, with delete, and without variables", async () => {
  const tryOperations = (operations: object[]) =>
    failureOf(
      cloud.types.createResourceType({
        parentPath: cloud.servicePath,
        resourceType: { name: "never", collection: "never", operations },
      }),
    );
  expect(await tryOperations([{ verb: "undelete" }])).toMatchObject({
    fields: ["resource_type.operations", "resource_type.operations"],
  });
  expect(await tryOperations([{ verb: "delete" }, { verb: "purge" }])).toMatchObject({
    fields: ["resource_type.operations"],
  });
  const quantities = [{ kind: cloud.cores }];
  const withVariables = [{ verb: "delete" }, { verb: "undelete", quantities }, { verb: "purge" }];
  expect(await tryOperations(withVariables)).toMatchObject({ fields: ["resource_type.operations[1].quantities"] });
});
