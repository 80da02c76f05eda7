// Tests which services may count which QuantityKinds against quotas: what the operator says, and not the provider.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
let sql: SqlClient;
/** The service of others, which counts cores. */
let cloud: Cloud;
/** A service that counts nothing, and who provides it. */
let servicePath: string;
let provider: ResourcesApi;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("REST", server.url, server.operatorKey);
  const { api } = cloud;
  const name = uniqueName("storage");
  servicePath = (await cloud.services.createService({ service: { name } })).path;
  const member = { name, type: Member_Type.APPLICATION };
  const { path } = await api.members.createMember({ parentPath: "orgs/system", member });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  const roleBinding = { name, rolePath: "/roles/provider", subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath: servicePath, roleBinding });
  provider = createResourcesApi("gRPC", server.url, required(secret));
});
afterAll(() => sql.close());

const counting = (...kinds: readonly string[]) => {
  const name = uniqueName("type");
  const quantities = kinds.map((kind) => ({ kind, counted: true }));
  return { name, collection: name, operations: [{ verb: "create", quantities }, { verb: "delete" }] };
};

const createType = (as: ResourcesApi, ...kinds: readonly string[]) =>
  as.types.createResourceType({ parentPath: servicePath, resourceType: counting(...kinds) });

const kindsOf = async (path = servicePath): Promise<string[]> =>
  (await cloud.services.getService({ path })).countedKinds;

const setKinds = (countedKinds: string[], path = servicePath, as: ResourcesApi = cloud) =>
  as.services.updateService({ path, service: { countedKinds }, updateMask: { paths: ["counted_kinds"] } });

describe("a provider", () => {
  test("cannot let its service count a kind that the operator has not given to it", async () => {
    const refused = await failureOf(createType(provider, cloud.cores));
    expect(refused).toMatchObject({
      code: "InvalidArgument",
      fields: ["resource_type.operations[0].quantities[0].counted"],
    });
    expect(refused.message).toContain(`${servicePath} may not count ${cloud.cores} against quotas`);
    const batch = provider.types.batchCreateResourceTypes({
      parentPath: servicePath,
      requests: [{ resourceType: counting() }, { resourceType: counting(cloud.cores) }],
    });
    expect(await failureOf(batch)).toMatchObject({
      fields: ["requests[1].resource_type.operations[0].quantities[0].counted"],
    });
    const { path } = await createType(provider);
    const returned = { verb: "create", givenQuantities: [{ kind: cloud.cores, counted: true }] };
    const update = provider.types.updateResourceType({
      path,
      resourceType: { operations: [returned, { verb: "delete" }] },
    });
    expect(await failureOf(update)).toMatchObject({
      fields: ["resource_type.operations[0].given_quantities[0].counted"],
    });
    const uncounted = [{ verb: "create", quantities: [{ kind: cloud.cores, counted: false }] }, { verb: "delete" }];
    await provider.types.updateResourceType({ path, resourceType: { operations: uncounted } });
    expect(await failureOf(setKinds([cloud.cores], servicePath, provider))).toMatchObject({ code: "PermissionDenied" });
    expect(await kindsOf()).toEqual([]);
  });

  test("can once the operator has, and keeps what its types count", async () => {
    await setKinds([cloud.cores]);
    const type = await createType(provider, cloud.cores);
    const refused = await failureOf(createType(provider, cloud.cores, cloud.ram));
    expect(refused.fields).toEqual(["resource_type.operations[0].quantities[1].counted"]);
    expect(refused.message).toContain(`has ${cloud.cores}`);

    expect(await failureOf(setKinds([]))).toMatchObject({
      reason: "RESOURCE_IN_USE",
      message: `service.counted_kinds must have ${cloud.cores}, which ${type.path} counts against quotas`,
    });
    // A server of an earlier version, which knows no such list, has let it count that.
    await sql.query("update services set counted_kinds = '{}' where $1 like '%/' || name", [servicePath]);
    await provider.types.updateResourceType({ path: type.path, resourceType: { description: "Kept" } });
    await provider.types.deleteResourceType({ path: type.path });
    expect(await kindsOf()).toEqual([]);
  });
});

describe("the operator", () => {
  test("gives kinds to a service by a type that counts them, which is in the change log", async () => {
    const { path } = await cloud.services.createService({ service: { name: uniqueName("network") } });
    const create = (...types: ReturnType<typeof counting>[]) =>
      cloud.types.batchCreateResourceTypes({
        parentPath: path,
        requests: types.map((resourceType) => ({ resourceType })),
      });
    const before = await cloud.services.getService({ path });
    await create(counting(cloud.cores), counting(cloud.ram, cloud.cores));
    const after = await cloud.services.getService({ path });
    expect(after.countedKinds).toEqual([cloud.cores, cloud.ram]);
    expect(after.etag).not.toBe(before.etag);
    const logged = await sql.query(
      "select after -> 'counted_kinds' as kinds from changes where resource_path = $1 order by revision, position",
      [path],
    );
    expect(logged.map(({ kinds }) => kinds)).toEqual([[], [cloud.cores], [cloud.cores, cloud.ram]]);
  });

  test("names kinds that exist", async () => {
    const [unknown, name] = [uniqueName("unknown"), uniqueName("service")];
    const create = (...countedKinds: string[]) => cloud.services.createService({ service: { name, countedKinds } });
    expect(await failureOf(create(cloud.cores, unknown))).toMatchObject({ fields: ["service.counted_kinds[1]"] });
    expect(await failureOf(setKinds([unknown]))).toMatchObject({ fields: ["service.counted_kinds[0]"] });
    expect((await create(cloud.cores)).countedKinds).toEqual([cloud.cores]);
  });

  test("deletes a kind from all services with it", async () => {
    const quantityKind = { name: uniqueName("kind"), unit: "piece" };
    const { path } = await cloud.quantityKinds.createQuantityKind({ quantityKind });
    const { path: listing } = await cloud.services.createService({
      service: { name: uniqueName("service"), countedKinds: [quantityKind.name, cloud.ram] },
    });
    await cloud.quantityKinds.deleteQuantityKind({ path });
    await cloud.quantityKinds.createQuantityKind({ quantityKind });
    expect(await kindsOf(listing)).toEqual([cloud.ram]);
  });
});
