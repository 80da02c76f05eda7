// Resources that use others: what is used is not deleted.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { OperationTypeSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, joinWith, openCloud } from "./cloud.ts";

let server: SharedServer;
let cloud: Cloud;
/** The types: volumes, and machines that use them. */
let volumes: string;
let machines: string;

beforeAll(async () => {
  server = await sharedServer();
});

beforeEach(async () => {
  cloud = await openCloud("REST", server.url, server.operatorKey);
  volumes = await createType("volumes", [{ verb: "create" }, { verb: "clone" }, { verb: "delete" }]);
  const volume = { name: "volume", typePath: volumes };
  await cloud.types.updateResourceType({
    path: volumes,
    resourceType: {
      operations: [
        { verb: "create" },
        { verb: "clone", references: [{ name: "source", typePath: volumes }] },
        { verb: "delete" },
      ],
    },
  });
  machines = await createType("machines", [
    { verb: "create", references: [volume] },
    { verb: "attach", references: [{ ...volume, required: true }] },
    { verb: "swap", references: [volume] },
    { verb: "delete" },
  ]);
});

const createType = async (
  name: string,
  operations: MessageInitShape<typeof OperationTypeSchema>[],
): Promise<string> => {
  const resourceType = { name, collection: name, operations };
  return (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
};

const begin = (name: string, typePath: string, references: Record<string, string> = {}, parentPath = cloud.project) =>
  cloud.resources.createResource({ parentPath, resource: { name, typePath, references } });

async function create(...args: Parameters<typeof begin>): Promise<string> {
  const { resourcePath } = await begin(...args);
  await cloud.complete();
  return resourcePath;
}

const run = (path: string, operation: string, references: Record<string, string> = {}): Promise<Operation> =>
  cloud.resources.runResource({ path, operation, references });

/** The path with ids of a resource, as references are returned. */
async function byId(path: string): Promise<string> {
  const { id } = await cloud.resources.getResource({ path });
  const project = await cloud.api.projects.getProject({ path: path.split("/").slice(0, 5).join("/") });
  return `${cloud.org}/projects/@${project.id}/resources/@${id}`;
}

const referencesOf = async (path: string) => (await cloud.resources.getResource({ path })).references;

const remove = (path: string) => failureOf(cloud.resources.deleteResource({ path }));

const inUse = (usedBy: string) => ({
  code: "FailedPrecondition",
  reason: "RESOURCE_IN_USE",
  metadata: expect.objectContaining({ used_by: usedBy }) as unknown,
});

describe("a resource", () => {
  test("uses another one that it was created with, which is not deleted before it", async () => {
    const disk = await create("disk", volumes);
    const creating = await begin("vm", machines, { volume: disk });
    const vm = creating.resourcePath;
    expect(creating.references).toEqual({ volume: await byId(disk) });
    expect(await referencesOf(vm)).toEqual({});
    // What an operation wants is not deleted either.
    expect(await remove(disk)).toMatchObject(inUse(vm));
    const claim = await cloud.claim();
    expect(claim.operation?.references).toEqual({ volume: await byId(disk) });
    await cloud.provider.completeOperation(cloud.present(claim));
    expect(await referencesOf(vm)).toEqual({ volume: await byId(disk) });
    expect(await remove(disk)).toMatchObject(inUse(vm));

    await cloud.resources.deleteResource({ path: vm });
    expect(await remove(disk)).toMatchObject(inUse(vm));
    await cloud.complete();
    await cloud.resources.deleteResource({ path: disk });
    await cloud.complete();
  });

  test("uses what an operation gives it, when that has succeeded, and until another one takes it away", async () => {
    const [first, second] = [await create("first", volumes), await create("second", volumes)];
    const vm = await create("vm", machines);
    await run(vm, "attach", { volume: first });
    await cloud.complete();
    await run(vm, "swap", { volume: second });
    // Both, while it is open which one it will be.
    for (const disk of [first, second]) expect(await remove(disk)).toMatchObject(inUse(vm));
    await cloud.provider.failOperation({ ...cloud.present(await cloud.claim()), reason: "BUSY" });
    expect(await referencesOf(vm)).toEqual({ volume: await byId(first) });
    await cloud.resources.deleteResource({ path: second });
    await cloud.complete();

    const detaching = await run(vm, "swap", { volume: "" });
    expect(detaching.references).toEqual({ volume: "" });
    expect(await remove(first)).toMatchObject(inUse(vm));
    await cloud.complete();
    expect(await referencesOf(vm)).toEqual({});
    await cloud.resources.deleteResource({ path: first });
    await cloud.complete();
  });

  test("no longer uses anything when its creation is cancelled", async () => {
    const disk = await create("disk", volumes);
    const { path } = await begin("vm", machines, { volume: disk });
    await cloud.operations.cancelOperation({ path });
    await cloud.resources.deleteResource({ path: disk });
    await cloud.complete();
  });

  test("can use one in another project of its org, which can be renamed", async () => {
    const { api, org, resources } = cloud;
    const { path: parentPath } = await api.projects.createProject({ parentPath: org, project: { name: "shared" } });
    const disk = await create("disk", volumes, {}, parentPath);
    const vm = await create("vm", machines, { volume: disk });
    await resources.updateResource({ path: disk, resource: { name: "renamed" } });
    await api.projects.updateProject({ path: parentPath, project: { name: "common" } });
    const { volume } = await referencesOf(vm);
    expect((await resources.getResource({ path: volume ?? "" })).path).toBe(`${org}/projects/common/resources/renamed`);
    expect(await remove(volume ?? "")).toMatchObject(inUse(vm));
  });

  test("is used by one that a refused deletion names only to callers who may read it", async () => {
    const { api, org, service } = cloud;
    const { path: paused } = await api.projects.createProject({ parentPath: org, project: { name: "paused" } });
    const disk = await create("disk", volumes);
    const vm = await create("vm", machines, { volume: disk }, paused);
    const permissions = [`${service}.volumes.get`, `${service}.volumes.delete`, `${service}.machines.get`];
    const role = await api.roles.createRole({ parentPath: org, role: { name: "deleter", permissions } });
    const clientOn = async (scope: string, name: string) => {
      const { path: subjectPath } = await api.members.createMember({ parentPath: org, member: { name, type: 2 } });
      const roleBinding = { name, rolePath: role.path, subjectPath };
      await api.roleBindings.createRoleBinding({ parentPath: scope, roleBinding });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
      return createResourcesApi("REST", server.url, required(secret));
    };
    const [reader, other] = [await clientOn(org, "reader"), await clientOn(cloud.project, "other")];
    const refusal = async ({ resources }: Pick<Cloud, "resources">, validateOnly: boolean) =>
      failureOf(resources.deleteResource({ path: disk, validateOnly }));
    const unnamed = { reason: "RESOURCE_IN_USE", metadata: { resource: disk } };
    for (const dryRun of [true, false]) {
      expect(await refusal(reader, dryRun)).toMatchObject(inUse(vm));
      const { message, metadata, reason } = await refusal(other, dryRun);
      expect({ reason, metadata }).toEqual(unnamed);
      expect(message).not.toContain(paused);
    }
    await api.projects.suspendProject({ path: paused });
    for (const dryRun of [true, false]) {
      const { message, metadata, reason } = await refusal(reader, dryRun);
      expect({ reason, metadata }).toEqual(unnamed);
      expect(message).not.toContain(paused);
    }
    expect(await remove(disk)).toMatchObject(inUse(vm));
  });

  test("is used by one in a project that a refused deletion names to callers who may get it, or else says whom to ask", async () => {
    const { api, org, service } = cloud;
    const { path: shared } = await api.projects.createProject({ parentPath: org, project: { name: "shared" } });
    const disk = await create("disk", volumes);
    await create("vm", machines, { volume: disk }, shared);
    const delivered = [`${service}.volumes.get`, `${service}.volumes.delete`];
    const blind = await memberWith({ [cloud.project]: delivered });
    const lister = await memberWith({ [cloud.project]: delivered, [shared]: ["iam.projects.get"] });
    const refusal = async ({ resources }: ResourcesApi) => failureOf(resources.deleteResource({ path: disk }));
    expect(await refusal(blind)).toMatchObject({
      reason: "RESOURCE_IN_USE",
      message: `the resource ${disk} is used by a resource that the caller may not read: ask an owner of the org ${org}, who can read it, to let it go`,
      metadata: { resource: disk },
    });
    expect(await refusal(lister)).toMatchObject({
      reason: "RESOURCE_IN_USE",
      message: `the resource ${disk} is used by a resource in the project ${shared} that the caller may not read: ask somebody who may change what is in that project to let it go`,
      metadata: { resource: disk, project: shared },
    });
  });

  test("is deleted with its project after those that use it", async () => {
    const { api, project, provider, servicePath } = cloud;
    const disk = await create("disk", volumes);
    await create("vm", machines, { volume: disk });
    await api.projects.deleteProject({ path: project, force: true });
    const verbs: (string | undefined)[] = [];
    while (verbs.length < 2) {
      const { claims } = await provider.claimOperations({ servicePath, wait: { seconds: 20n } });
      verbs.push(claims[0]!.resource?.name);
      await provider.completeOperation(cloud.present(claims[0]!));
    }
    expect(verbs).toEqual(["vm", "disk"]);
  });
});

/** Returns the clients of a member who holds permissions, or a role, on the projects with these paths. */
const memberWith = (held: Readonly<Record<string, readonly string[] | string>>): Promise<ResourcesApi> =>
  joinWith(cloud, "REST", server.url, held);

describe("to use a resource takes a permission of its own", () => {
  const withoutUse = (path: string, field: string) => ({
    code: "PermissionDenied",
    message: `${field}: the caller lacks the permission ${cloud.service}.volumes.use on ${path}, which it may read but not use`,
  });

  /** Another project with a volume, and a machine in the first one. */
  async function twoProjects() {
    const { api, org } = cloud;
    const { path: store } = await api.projects.createProject({ parentPath: org, project: { name: "store" } });
    return { store, disk: await create("disk", volumes, {}, store), vm: await create("vm", machines) };
  }

  /** Each way to use a volume, with the field that names it. */
  const ways: Readonly<
    Record<string, readonly [string, (clients: ResourcesApi, volume: string, vm: string) => Promise<unknown>]>
  > = {
    CreateResource: [
      'resource.references["volume"]',
      ({ resources }, volume) =>
        resources.createResource({
          parentPath: cloud.project,
          resource: { name: uniqueName("new"), typePath: machines, references: { volume } },
        }),
    ],
    BatchCreateResources: [
      'resource.references["volume"]',
      ({ resources }, volume) =>
        resources.batchCreateResources({
          parentPath: cloud.project,
          requests: [
            {
              parentPath: cloud.project,
              resource: { name: uniqueName("new"), typePath: machines, references: { volume } },
            },
          ],
        }),
    ],
    RunResource: [
      'references["volume"]',
      ({ resources }, volume, path) => resources.runResource({ path, operation: "attach", references: { volume } }),
    ],
    "RunResource that is only validated": [
      'references["volume"]',
      ({ resources }, volume, path) =>
        resources.runResource({ path, operation: "attach", references: { volume }, validateOnly: true }),
    ],
  };

  test.each(Object.entries(ways))(
    "%s is refused to who may only read it, and names what is missing",
    async (_name, [field, use]) => {
      const { store, disk, vm } = await twoProjects();
      const viewer = await memberWith({ [cloud.project]: "/roles/editor", [store]: "/roles/viewer" });
      const { code, message, metadata } = await failureOf(use(viewer, disk, vm));
      expect({ code, message }).toEqual(withoutUse(disk, field));
      expect(metadata).toMatchObject({ permission: `${cloud.service}.volumes.use`, resource: disk });
      await cloud.resources.deleteResource({ path: disk });
      await cloud.complete();
    },
  );

  test.each(Object.entries(ways))("%s is allowed to an editor, and to a role that names it", async (_name, [, use]) => {
    const { store, disk, vm } = await twoProjects();
    const { service } = cloud;
    const named = [`${service}.volumes.get`, `${service}.volumes.use`];
    const other = await create("other", machines);
    const editor = await memberWith({ [cloud.project]: "/roles/editor", [store]: "/roles/editor" });
    await use(editor, disk, vm);
    const user = await memberWith({ [cloud.project]: "/roles/editor", [store]: named });
    await use(user, disk, other);
  });

  test("without which it can be let go, and what may not be read is still as if it did not exist", async () => {
    const { store, disk, vm } = await twoProjects();
    await run(vm, "swap", { volume: disk });
    await cloud.complete();
    const viewer = await memberWith({ [cloud.project]: "/roles/editor", [store]: "/roles/viewer" });
    await viewer.resources.runResource({ path: vm, operation: "swap", references: { volume: "" } });
    await cloud.complete();
    const blind = await memberWith({ [cloud.project]: "/roles/editor", [store]: [`${cloud.service}.volumes.use`] });
    const attach = blind.resources.runResource({
      path: vm,
      operation: "attach",
      references: { volume: disk },
      validateOnly: true,
    });
    expect(await failureOf(attach)).toMatchObject({ code: "InvalidArgument", fields: ['references["volume"]'] });
  });

  test("is decided where the resource is, by the role binding's condition", async () => {
    const { store, disk, vm } = await twoProjects();
    const other = await create("other", volumes, {}, store);
    const { api, org } = cloud;
    const viewer = await api.members.createMember({ parentPath: org, member: { name: "conditional" } });
    const bind = (parentPath: string, rolePath: string, condition = "") =>
      api.roleBindings.createRoleBinding({
        parentPath,
        roleBinding: { name: uniqueName("binding"), rolePath, subjectPath: viewer.path, condition },
      });
    await bind(cloud.project, "/roles/editor");
    await bind(store, "/roles/viewer");
    await bind(store, "/roles/editor", `resource.path == "${disk}"`);
    const { secret } = await api.apiKeys.createApiKey({ parentPath: viewer.path, apiKey: { name: "key" } });
    const { resources } = createResourcesApi("REST", server.url, required(secret));
    const attach = (volume: string) =>
      resources.runResource({ path: vm, operation: "attach", references: { volume }, validateOnly: true });
    await attach(disk);
    expect(await failureOf(attach(other))).toMatchObject(withoutUse(other, 'references["volume"]'));
  });
});

describe("a reference is refused", () => {
  const refused = async (call: Promise<unknown>, field: string, message: string): Promise<void> => {
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: [field] });
    expect(failure.message).toContain(message);
  };

  test("if the operation has none of its name, or needs one that is missing", async () => {
    const disk = await create("disk", volumes);
    const creation = begin("vm", machines, { disc: disk });
    await refused(creation, 'resource.references["disc"]', "the operation takes volume");
    await refused(begin("other", volumes, { volume: disk }), 'resource.references["volume"]', "takes none");
    const vm = await create("vm", machines);
    await refused(run(vm, "attach"), 'references["volume"]', "is required");
    await refused(run(vm, "attach", { volume: "" }), 'references["volume"]', "is required");
    await refused(run(vm, "attach", { volume: "disk" }), 'references["volume"]', "must have the form");
  });

  test("if there is no such resource, it has another type, or it cannot be used", async () => {
    const vm = await create("vm", machines);
    const other = await create("other", machines);
    const attach = (volume: string) => run(vm, "attach", { volume });
    await refused(attach(cloud.pathOf("missing")), 'references["volume"]', "there is no resource");
    await refused(attach(other), 'references["volume"]', `must be a resource of the type ${volumes}`);
    const { resourcePath: fresh } = await begin("fresh", volumes);
    await refused(attach(fresh), 'references["volume"]', "is CREATING");
    await cloud.complete();
    await cloud.resources.deleteResource({ path: fresh });
    await refused(attach(fresh), 'references["volume"]', "is DELETING");
    await cloud.complete();
  });

  test("if its project is deleted, which would keep it there", async () => {
    const { api, org } = cloud;
    const { path: parentPath } = await api.projects.createProject({ parentPath: org, project: { name: "gone" } });
    const disk = await create("disk", volumes, {}, parentPath);
    const volume = await byId(disk);
    await create("vm", machines, { volume: disk });
    await api.projects.deleteProject({ path: parentPath, force: true });
    expect(await failureOf(begin("other", machines, { volume }))).toMatchObject({
      code: "InvalidArgument",
      fields: ['resource.references["volume"]'],
    });
  });

  test("if it is in another org, or the caller may not read it", async () => {
    const { api, org, project } = cloud;
    const elsewhere = (await api.orgs.createOrg({ org: { name: uniqueName("other") } })).path;
    const { path: parentPath } = await api.projects.createProject({ parentPath: elsewhere, project: { name: "web" } });
    const foreign = await create("disk", volumes, {}, parentPath);
    const vm = await create("vm", machines);
    await refused(run(vm, "attach", { volume: foreign }), 'references["volume"]', "must be in the same org");

    const { path: hidden } = await api.projects.createProject({ parentPath: org, project: { name: "hidden" } });
    const secret = await create("disk", volumes, {}, hidden);
    await api.members.createMember({ parentPath: org, member: { name: "bob", type: 2 } });
    const roleBinding = { name: "bob", rolePath: "/roles/editor", subjectPath: `${org}/members/bob` };
    await api.roleBindings.createRoleBinding({ parentPath: project, roleBinding });
    const { secret: key } = await api.apiKeys.createApiKey({
      parentPath: `${org}/members/bob`,
      apiKey: { name: "key" },
    });
    const bob = createResourcesApi("REST", server.url, required(key));
    const attach = (volume: string) =>
      bob.resources.runResource({ path: vm, operation: "attach", references: { volume } });
    for (const path of [secret, foreign, `${hidden}/resources/missing`]) {
      await refused(attach(path), 'references["volume"]', "there is no resource");
    }
  });

  test("if it is in a suspended project or org whose suspension the caller may not lift, also written with -", async () => {
    const { api, org, service } = cloud;
    const { path: paused } = await api.projects.createProject({ parentPath: org, project: { name: "paused" } });
    const other = await api.orgs.createOrg({ org: { name: uniqueName("other") } });
    const web = await api.projects.createProject({ parentPath: other.path, project: { name: "web" } });
    const [disk, foreign] = [await create("disk", volumes, {}, paused), await create("disk", volumes, {}, web.path)];
    const vm = await create("vm", machines);
    const clientOf = async (parentPath: string, name: string, rolePath: string, on: string) => {
      const { path: subjectPath } = await api.members.createMember({ parentPath, member: { name, type: 2 } });
      await api.roleBindings.createRoleBinding({ parentPath: on, roleBinding: { name, rolePath, subjectPath } });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
      return createResourcesApi("REST", server.url, required(secret));
    };
    const permissions = [`${service}.machines.attach`, `${service}.volumes.use`, "resources.resources.get"];
    const role = await api.roles.createRole({ parentPath: org, role: { name: "attacher", permissions } });
    const bob = await clientOf(org, "bob", role.path, org);
    const editor = await clientOf("/orgs/system", uniqueName("editor"), "/roles/editor", "");
    const idOf = async (path: string) => (await cloud.resources.getResource({ path })).id;
    const [wild, wildForeign] = [
      `${org}/projects/-/resources/@${await idOf(disk)}`,
      `/orgs/-/projects/-/resources/@${await idOf(foreign)}`,
    ];
    const attach = ({ resources }: Pick<typeof bob, "resources">, volume: string) =>
      resources.runResource({ path: vm, operation: "attach", references: { volume }, validateOnly: true });
    for (const path of [disk, wild]) expect((await attach(bob, path)).references).toBeDefined();
    await refused(attach(editor, wildForeign), 'references["volume"]', "must be in the same org");

    await api.projects.suspendProject({ path: paused });
    await api.orgs.suspendOrg({ path: other.path });
    for (const path of [disk, wild]) await refused(attach(bob, path), 'references["volume"]', "there is no resource");
    for (const path of [foreign, wildForeign]) {
      await refused(attach(editor, path), 'references["volume"]', "there is no resource");
    }
  });

  test("if it would lead back to the resource, or is too deep", async () => {
    const disks: string[] = [];
    for (let index = 0; index < 6; index++) disks.push(await create(`disk-${index}`, volumes));
    const clone = (index: number, source: number) => run(disks[index]!, "clone", { source: disks[source]! });
    await refused(clone(0, 0), 'references["source"]', "uses the resource itself");
    for (const index of [1, 2, 3]) {
      await clone(index, index - 1);
      await cloud.complete();
    }
    await refused(clone(0, 3), 'references["source"]', "uses the resource itself");
    await clone(4, 3);
    await cloud.complete();
    await refused(clone(5, 4), 'references["source"]', "at most 4 references deep");
  });
});

test("a type names the types of its references", async () => {
  const references = [
    { name: "volume", typePath: volumes },
    { name: "volume", typePath: "/services/none/resourceTypes/none" },
  ];
  const operations = [{ verb: "create" }, { verb: "delete" }, { verb: "attach", references }];
  const failure = await failureOf(createType("broken", operations));
  const at = "resource_type.operations[2].references[1]";
  expect(failure).toMatchObject({ fields: [`${at}.name`, `${at}.type_path`] });
});
