// Tests the permissions on resources, which their type defines: `<service>.<collection>.<verb>`.
import { beforeAll, describe, expect, test } from "vitest";
import { type Member, Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
let cloud: Cloud;

beforeAll(async () => {
  server = await sharedServer();
  cloud = await openCloud("REST", server.url, server.operatorKey);
  await cloud.create("db-1");
  await cloud.complete();
});

/** Creates a member who holds the given permissions on a resource, and returns its clients over gRPC. */
async function memberWith(permissions: readonly string[], on = cloud.project): Promise<ResourcesApi> {
  const { api, org } = cloud;
  const name = uniqueName("member");
  const member: Member = await api.members.createMember({ parentPath: org, member: { name } });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
  if (permissions.length > 0) {
    const role = await api.roles.createRole({ parentPath: org, role: { name, permissions: [...permissions] } });
    const roleBinding = { name, rolePath: role.path, subjectPath: member.path };
    await api.roleBindings.createRoleBinding({ parentPath: on, roleBinding });
  }
  return createResourcesApi("gRPC", server.url, required(secret));
}

const own = (verb: string): string => `${cloud.service}.instances.${verb}`;

describe("each method requires the permission of the type and the operation", () => {
  const calls = {
    create: ({ resources }: ResourcesApi) =>
      resources.createResource({
        parentPath: cloud.project,
        resource: { name: uniqueName("new"), typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } },
        validateOnly: true,
      }),
    get: ({ resources }: ResourcesApi) => resources.getResource({ path: cloud.pathOf("db-1") }),
    list: ({ resources }: ResourcesApi) => resources.listResources({ parentPath: cloud.project }),
    update: ({ resources }: ResourcesApi) =>
      resources.updateResource({
        path: cloud.pathOf("db-1"),
        resource: { displayName: "Changed" },
        validateOnly: true,
      }),
    delete: ({ resources }: ResourcesApi) =>
      resources.deleteResource({ path: cloud.pathOf("db-1"), validateOnly: true }),
    resize: ({ resources }: ResourcesApi) =>
      resources.runResource({
        path: cloud.pathOf("db-1"),
        operation: "resize",
        quantities: { [cloud.cores]: 3 },
        validateOnly: true,
      }),
    start: ({ resources }: ResourcesApi) =>
      resources.runResource({ path: cloud.pathOf("db-1"), operation: "start", validateOnly: true }),
  };
  const verbs = Object.keys(calls) as (keyof typeof calls)[];

  test.each(verbs)("%s", async (verb) => {
    const holder = await memberWith([own(verb)]);
    const others = await memberWith(verbs.filter((each) => each !== verb).map(own));
    await calls[verb](holder);
    const denied = await failureOf(calls[verb](others));
    expect(denied).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
    // A caller who cannot read the resource does not learn its type.
    const named = { list: "resources.resources.list", get: "{service}.{collection}.get" };
    expect(denied.metadata["permission"]).toBe(Object.hasOwn(named, verb) ? named[verb as "get"] : own(verb));
  });

  test.each(verbs)("%s is not allowed by the same permission of another service", async (verb) => {
    const stranger = await memberWith([`storage.instances.${verb}`, `${cloud.service}.volumes.${verb}`]);
    expect(await failureOf(calls[verb](stranger))).toMatchObject({ code: "PermissionDenied" });
  });
});

describe("a list", () => {
  test("returns the types that the caller can list", async () => {
    const { types, servicePath, resources, project, provider } = cloud;
    const { path: typePath } = await types.createResourceType({
      parentPath: servicePath,
      resourceType: { name: "volumes", collection: "volumes", operations: [{ verb: "create" }, { verb: "delete" }] },
    });
    await resources.createResource({ parentPath: project, resource: { name: "disk-1", typePath } });
    const { claims } = await provider.claimOperations({ servicePath });
    await provider.completeOperation(cloud.present(claims[0]!));

    const namesFor = async (verbs: readonly string[]): Promise<string[]> => {
      const member = await memberWith(verbs);
      const list = await member.resources.listResources({ parentPath: project });
      return list.resources.map(({ name }) => name);
    };
    expect(await namesFor([own("list")])).toEqual(["db-1"]);
    expect(await namesFor([`${cloud.service}.volumes.list`])).toEqual(["disk-1"]);
    expect(await namesFor([own("list"), `${cloud.service}.volumes.list`])).toEqual(["db-1", "disk-1"]);
    expect(await namesFor(["resources.resources.list"])).toEqual(["db-1", "disk-1"]);
  });

  test("of all projects requires the permission on the org", async () => {
    const onProject = await memberWith([own("list")]);
    const onOrg = await memberWith([own("list")], cloud.org);
    const parentPath = `${cloud.org}/projects/-`;
    expect(await failureOf(onProject.resources.listResources({ parentPath }))).toMatchObject({
      code: "PermissionDenied",
    });
    expect((await onOrg.resources.listResources({ parentPath })).resources.map(({ name }) => name)).toEqual(["db-1"]);
  });
});

test("an operation called list is denied to a caller who can list another type", async () => {
  const lister = await memberWith([`${cloud.service}.volumes.list`]);
  const run = lister.resources.runResource({ path: cloud.pathOf("db-1"), operation: "list" });
  expect(await failureOf(run)).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
});

describe("the existence of a resource", () => {
  test("is revealed to callers who can read resources of all types, and to nobody else", async () => {
    const path = cloud.pathOf("nothing");
    const reader = await memberWith(["resources.resources.get"]);
    const creator = await memberWith([own("get"), own("delete"), own("create")]);
    expect(await failureOf(reader.resources.getResource({ path }))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(reader.resources.deleteResource({ path }))).toMatchObject({ code: "NotFound" });
    for (const call of [
      () => creator.resources.getResource({ path }),
      () => creator.resources.deleteResource({ path }),
      () => creator.resources.runResource({ path, operation: "start" }),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: "PermissionDenied" });
    }
  });
});

describe("operations", () => {
  test("have their own permissions to read and cancel", async () => {
    const { path } = await cloud.create(uniqueName("db"));
    const reader = await memberWith(["resources.operations.get", "resources.operations.list"]);
    const canceller = await memberWith(["resources.operations.cancel"]);
    expect((await reader.operations.getOperation({ path })).path).toBe(path);
    expect(await failureOf(reader.operations.cancelOperation({ path }))).toMatchObject({ code: "PermissionDenied" });
    expect(await failureOf(canceller.operations.getOperation({ path }))).toMatchObject({ code: "PermissionDenied" });
    expect((await canceller.operations.cancelOperation({ path })).done).toBe(true);
  });

  test("have no names", async () => {
    const path = `${cloud.project}/operations/create`;
    expect(await failureOf(cloud.operations.getOperation({ path }))).toMatchObject({ code: "NotFound" });
  });

  test("cannot be claimed by a member of a customer's org, with any permissions there", async () => {
    const owner = await memberWith([]);
    expect(await failureOf(owner.provider.claimOperations({ servicePath: cloud.servicePath }))).toMatchObject({
      code: "PermissionDenied",
    });
  });

  test("are carried out by an application with the role provider on the service, and on no other", async () => {
    const { api, servicePath } = cloud;
    const name = uniqueName("runner");
    const member = await api.members.createMember({
      parentPath: "orgs/system",
      member: { name, type: Member_Type.APPLICATION },
    });
    const { secret } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
    const roleBinding = { name, rolePath: "/roles/provider", subjectPath: member.path };
    await api.roleBindings.createRoleBinding({ parentPath: servicePath, roleBinding });
    const { provider, resources, types } = createResourcesApi("gRPC", server.url, required(secret));

    const { path } = await cloud.create(uniqueName("db"));
    const { claims } = await provider.claimOperations({ servicePath });
    expect(claims.map(({ operation }) => operation?.path)).toEqual([path]);
    const done = await provider.completeOperation(cloud.present(required(claims[0])));
    expect(done.done).toBe(true);
    await provider.reportResource({ servicePath, resourcePath: done.resourcePath });
    await types.updateResourceType({ path: cloud.typePath, resourceType: { description: "Changed" } });

    const other = await openCloud("REST", server.url, server.operatorKey);
    const denied = { code: "PermissionDenied" };
    expect(await failureOf(provider.claimOperations({ servicePath: other.servicePath }))).toMatchObject(denied);
    expect(await failureOf(resources.deleteResource({ path: done.resourcePath }))).toMatchObject(denied);
  });
});
