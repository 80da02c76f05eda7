// Tests the life of a resource: it is created, changed and deleted by operations that its provider carries out.
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let server: SharedServer;

beforeAll(async () => {
  server = await sharedServer();
});

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await openCloud(protocol, server.url, server.operatorKey);
  });

  test("a resource is created, resized and deleted", async () => {
    const { cores, ram, resources, operations } = cloud;
    const path = cloud.pathOf("db-1");

    const creating = await cloud.create("db-1", 2);
    expect(creating).toMatchObject({
      resourcePath: path,
      typePath: cloud.typePath,
      verb: "create",
      state: Operation_State.PENDING,
      done: false,
      quantities: { [cores]: 2, [ram]: 1024 },
      memberPath: "/orgs/system/members/operator",
    });
    expect(await resources.getResource({ path })).toMatchObject({
      state: Resource_State.CREATING,
      operationPath: creating.path,
      quantities: { [cores]: 2, [ram]: 1024 },
      givenQuantities: {},
    });

    const claim = await cloud.claim();
    expect(claim).toMatchObject({ attempt: 1, operation: { path: creating.path, state: Operation_State.RUNNING } });
    expect(claim.resource?.path).toBe(path);
    const created = await cloud.provider.completeOperation({
      ...cloud.present(claim),
      givenQuantities: { [cores]: 2.5 },
      outputs: { address: "10.0.0.7", ports: [80, 443] },
    });
    expect(created).toMatchObject({ state: Operation_State.SUCCEEDED, done: true, progressPercent: 100 });
    expect(created.endTime).toBeDefined();
    expect(await resources.getResource({ path })).toMatchObject({
      state: Resource_State.ACTIVE,
      operationPath: "",
      quantities: { [cores]: 2, [ram]: 1024 },
      givenQuantities: { [cores]: 2.5, [ram]: 1024 },
      outputs: { address: "10.0.0.7", ports: [80, 443] },
    });

    const resizing = await resources.runResource({ path, operation: "resize", quantities: { [cores]: 4 } });
    expect(resizing).toMatchObject({ verb: "resize", quantities: { [cores]: 4 } });
    expect((await resources.getResource({ path })).state).toBe(Resource_State.UPDATING);
    await cloud.complete();
    expect(await resources.getResource({ path })).toMatchObject({
      state: Resource_State.ACTIVE,
      quantities: { [cores]: 4, [ram]: 1024 },
      givenQuantities: { [cores]: 4, [ram]: 1024 },
      outputs: { address: "10.0.0.7", ports: [80, 443] },
    });

    const deleting = await resources.deleteResource({ path });
    expect((await resources.getResource({ path })).state).toBe(Resource_State.DELETING);
    const deleted = await cloud.complete();
    expect(deleted).toMatchObject({ path: deleting.path, state: Operation_State.SUCCEEDED });
    expect(deleted.resourcePath).toMatch(/\/resources\/@/);
    expect(await failureOf(resources.getResource({ path }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    const all = await operations.listOperations({ parentPath: cloud.project });
    expect(all.operations.map(({ verb }) => verb)).toEqual(["create", "resize", "delete"]);
  });

  test("an update of what operations change says which call changes it", async () => {
    const path = cloud.pathOf("db-0");
    await cloud.create("db-0", 2);
    await cloud.complete();
    const update = cloud.resources.updateResource({ path, resource: { quantities: { [cloud.cores]: 4 } } });
    expect(await failureOf(update)).toMatchObject({
      code: "InvalidArgument",
      fields: ["resource.quantities"],
      message: expect.stringContaining(
        "run an operation of the type that takes them, such as resize, with RunResource",
      ),
    });
  });

  test("people can change its display fields, and nothing else", async () => {
    const { resources, cores } = cloud;
    await cloud.create("db-2");
    await cloud.complete();
    const path = cloud.pathOf("db-2");
    const changed = await resources.updateResource({
      path,
      resource: { displayName: "Main", labels: { tier: "gold" } },
    });
    expect(changed).toMatchObject({ displayName: "Main", labels: { tier: "gold" } });
    const grown = resources.updateResource({ path, resource: { quantities: { [cores]: 8 } } });
    expect(await failureOf(grown)).toMatchObject({ code: "InvalidArgument", fields: ["resource.quantities"] });
  });

  test("filters find it by state, type, labels and quantities, in one project and in all", async () => {
    const { resources, org, typePath, cores, ram } = cloud;
    await cloud.create("found", 1, { labels: { find: "me" } });
    const find = async (filter: string) =>
      (await resources.listResources({ parentPath: `${org}/projects/-`, filter })).resources.map(({ name }) => name);
    expect(await find(`state = "CREATING" AND type_path = "${typePath}"`)).toEqual(["found"]);
    expect(await find(`labels.find = "me"`)).toEqual(["found"]);
    expect(await find(`labels.find = "me" AND quantities.${cores} = 1 AND quantities:${ram}`)).toEqual(["found"]);
    expect(await find(`labels.find = "me" AND given_quantities.${cores} > 0`)).toEqual([]);
    expect(await find(`labels.find = "me" AND state = "ACTIVE"`)).toEqual([]);
    await cloud.complete();
  });

  test("validate_only returns what a real call would, and starts nothing", async () => {
    const { resources, operations, typePath, project, cores } = cloud;
    const resource = { name: "never", typePath, quantities: { [cores]: 1 } };
    const before = (await operations.listOperations({ parentPath: project })).operations.length;
    const answer = await resources.createResource({ parentPath: project, resource, validateOnly: true });
    expect(answer).toMatchObject({ verb: "create", quantities: { [cores]: 1 } });
    expect(await failureOf(resources.getResource({ path: cloud.pathOf("never") }))).toMatchObject({ code: "NotFound" });
    expect((await operations.listOperations({ parentPath: project })).operations).toHaveLength(before);
  });

  test("a repeated request id creates one resource", async () => {
    const { resources, typePath, project, cores } = cloud;
    const requestId = crypto.randomUUID();
    const request = {
      parentPath: project,
      resource: { name: "once", typePath, quantities: { [cores]: 1 } },
      requestId,
    };
    const [one, other] = await Promise.all([resources.createResource(request), resources.createResource(request)]);
    expect(one.path).toBe(other.path);
    await cloud.complete();
  });
});

describe("a request is refused", () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await openCloud("REST", server.url, server.operatorKey);
  });

  const failureWith = (quantities: Record<string, number>, qualities: Record<string, number> = {}) =>
    failureOf(
      cloud.resources.createResource({
        parentPath: cloud.project,
        resource: { name: "bad", typePath: cloud.typePath, quantities, qualities },
      }),
    );

  test("with an error that names each variable, the rule and what would be accepted", async () => {
    const { cores, ram, certificate } = cloud;
    const failure = await failureWith({ [ram]: 1000, disks: 1 }, { [certificate]: 1.5, soc_2: 1 });
    expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID" });
    expect(failure.fields.toSorted()).toEqual(
      [
        `resource.quantities["${cores}"]`,
        `resource.quantities["${ram}"]`,
        'resource.quantities["disks"]',
        `resource.qualities["${certificate}"]`,
        'resource.qualities["soc_2"]',
      ].toSorted(),
    );
    expect(failure.message).toContain("is required by the operation");
    expect(failure.message).toContain("must be a multiple of 1024 from 0 to 1e+24, got 1000");
    expect(failure.message).toContain(`the operation takes ${cores}, ${ram}`);
    expect(failure.message).toContain("must be a whole number from 1 to 2, got 1.5");
  });

  test.each([0.4, 65, 0.55, -1, 2 ** 60])(
    "with an amount that is out of range or between steps: %d",
    async (amount) => {
      const failure = await failureWith({ [cloud.cores]: amount });
      expect(failure.message).toContain(`must be a multiple of 0.1 from 0.5 to 64, got ${amount}`);
    },
  );

  test.each([Infinity, -Infinity, NaN])(
    "with an amount that is not a finite number, also without a maximum: %d",
    async (amount) => {
      const failure = await failureWith({ [cloud.cores]: 1, [cloud.ram]: amount });
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: [`resource.quantities["${cloud.ram}"]`] });
    },
  );

  test("with the nearly equal result of adding doubles, but not with the decimal", async () => {
    await cloud.create("exact", 0.7);
    expect((await failureWith({ [cloud.cores]: 0.1 + 0.7 })).message).toContain("got 0.7999999999999999");
    await cloud.complete();
  });

  test("without a type; the Location of an accepted one is its operation", async () => {
    expect(await failureOf(cloud.create("none", 1, { typePath: "" }))).toMatchObject({
      reason: "FIELD_INVALID",
      fields: ["resource.type_path"],
      message: "resource.type_path: must be set",
    });
    const response = await fetch(`${server.url}/resources/v1alpha${cloud.project}/resources`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "located", type_path: cloud.typePath, quantities: { [cloud.cores]: 1 } }),
    });
    const { path } = (await response.json()) as { path: string };
    expect([response.status, response.headers.get("location")]).toEqual([
      201,
      `/resources/v1alpha${path.replace("@", "%40")}`,
    ]);
    await cloud.operations.cancelOperation({ path });
  });

  test("with a type or an operation that does not exist", async () => {
    const { resources, project } = cloud;
    const create = (typePath: string) =>
      resources.createResource({ parentPath: project, resource: { name: "bad", typePath } });
    expect(await failureOf(create(`${cloud.servicePath}/resourceTypes/nothing`))).toMatchObject({
      code: "InvalidArgument",
      fields: ["resource.type_path"],
    });
    expect(await failureOf(create("compute"))).toMatchObject({
      reason: "PATH_INVALID",
      fields: ["resource.type_path"],
    });
    await cloud.create("here");
    await cloud.complete();
    const path = cloud.pathOf("here");
    const run = (operation: string) => failureOf(resources.runResource({ path, operation }));
    expect((await run("stop")).message).toContain("it has create, resize, start, delete");
    expect((await run("delete")).message).toContain("a method of its own");
    expect(await run("")).toMatchObject({ code: "InvalidArgument", fields: ["operation"] });
  });

  test("while another operation is changing the resource", async () => {
    const { resources } = cloud;
    const { path: operation } = await cloud.create("busy");
    const path = cloud.pathOf("busy");
    for (const failure of [
      await failureOf(resources.runResource({ path, operation: "start" })),
      await failureOf(resources.deleteResource({ path })),
    ]) {
      expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
      expect(failure.message).toContain(operation);
    }
    await cloud.complete();
  });

  test("with a stale etag", async () => {
    const { resources } = cloud;
    await cloud.create("stale");
    await cloud.complete();
    const path = cloud.pathOf("stale");
    const { etag } = await resources.getResource({ path });
    await resources.updateResource({ path, resource: { displayName: "Changed" } });
    expect(await failureOf(resources.deleteResource({ path, etag }))).toMatchObject({ reason: "ETAG_STALE" });
    expect(await failureOf(resources.runResource({ path, operation: "start", etag }))).toMatchObject({
      code: "Aborted",
    });
  });
});

describe("parameters", () => {
  let cloud: Cloud;
  const schema = {
    type: "object",
    properties: {
      image: { type: "string", minLength: 1 },
      disks: {
        type: "array",
        items: { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
      },
    },
    required: ["image"],
    additionalProperties: false,
  };
  beforeAll(async () => {
    cloud = await openCloud("gRPC", server.url, server.operatorKey);
    await cloud.types.updateResourceType({ path: cloud.typePath, resourceType: { parametersSchema: schema } });
  });

  test("match the schema of the type, and the provider reads them", async () => {
    const parameters = { image: "debian-12", disks: [{ size: 1024 }] };
    await cloud.create("db-1", 1, { parameters });
    expect((await cloud.claim()).resource?.parameters).toEqual(parameters);
    const { resources } = cloud;
    const changed = resources.updateResource({
      path: cloud.pathOf("db-1"),
      resource: { parameters: { image: "other" } },
    });
    expect(await failureOf(changed)).toMatchObject({ fields: ["resource.parameters"] });
  });

  test("are refused with a violation for each problem", async () => {
    const failure = await failureOf(
      cloud.create("bad", 1, { parameters: { disks: [{ size: 1 }, { size: "big" }], extra: 1 } }),
    );
    expect(failure.fields.toSorted()).toEqual(
      ["resource.parameters", "resource.parameters", "resource.parameters.disks[1].size"].toSorted(),
    );
    expect(failure.message).toContain("resource.parameters.disks[1].size: must be integer");
    const zero = cloud.create("bad", 1, { parameters: { image: "\0" } });
    expect(await failureOf(zero)).toMatchObject({ fields: ["resource.parameters"] });
    const big = cloud.create("bad", 1, { parameters: { image: "x".repeat(65_536) } });
    expect((await failureOf(big)).message).toContain("at most 65536 bytes");
  });

  test.each([
    [{ type: "nothing" }, "must be one of null, boolean"],
    [{ $ref: "https://example.com/schema" }, "can't resolve reference"],
    [{ properties: 1 }, "must be object"],
    [{ unknown: true }, "unknown keyword"],
  ])("must have a valid schema: %j", async (parametersSchema, problem) => {
    const update = cloud.types.updateResourceType({ path: cloud.typePath, resourceType: { parametersSchema } });
    const failure = await failureOf(update);
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["resource_type.parameters_schema"] });
    expect(failure.message).toContain(problem);
  });

  test("are refused for a type without a schema", async () => {
    const other = await openCloud("REST", server.url, server.operatorKey);
    const failure = await failureOf(other.create("bad", 1, { parameters: { image: "debian-12" } }));
    expect(failure).toMatchObject({ fields: ["resource.parameters"] });
  });
});

test("a project has at most as many resources as the limit allows", async () => {
  const limited = await startTestServer({ databaseUrl: server.databaseUrl, limits: { Resource: 1 } });
  onTestFinished(() => limited.close());
  const cloud = await openCloud("REST", limited.url, server.operatorKey);
  await cloud.create("first");
  expect(await failureOf(cloud.create("second"))).toMatchObject({
    code: "ResourceExhausted",
    reason: "LIMIT_EXCEEDED",
  });
});

describe("while a resource exists,", () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await openCloud("REST", server.url, server.operatorKey);
    await cloud.create("kept");
    await cloud.complete();
  });

  test.each(["project", "org", "customer"])("the %s cannot be deleted", async (what) => {
    const { api, project, org } = cloud;
    const { customerPath } = await api.orgs.getOrg({ path: org });
    await api.orgs.createOrg({ org: { name: `${org.slice(6)}other`, customerPath } }).catch(() => {});
    const failure = await failureOf(
      {
        project: () => api.projects.deleteProject({ path: project }),
        org: () => api.orgs.deleteOrg({ path: org }),
        customer: () => api.customers.deleteCustomer({ path: customerPath }),
      }[what]!(),
    );
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "RESOURCE_IN_USE" });
    expect(failure.message).toContain(cloud.pathOf("kept"));
  });

  test("its type cannot be deleted", async () => {
    const { types, typePath } = cloud;
    expect(await failureOf(types.deleteResourceType({ path: typePath }))).toMatchObject({ reason: "RESOURCE_IN_USE" });
  });

  test("its type keeps its operations, and what counts against quotas", async () => {
    const { types, typePath, cores } = cloud;
    const { operations } = await types.getResourceType({ path: typePath });
    const update = (changed: typeof operations) =>
      failureOf(types.updateResourceType({ path: typePath, resourceType: { operations: changed } }));
    const fewer = operations.filter(({ verb }) => verb !== "start");
    expect((await update(fewer)).message).toContain("the operation start cannot be removed");
    const uncounted = operations.map((each) => ({
      ...each,
      quantities: each.quantities.map((one) => ({ ...one, counted: false })),
    }));
    expect((await update(uncounted)).message).toContain(`whether ${cores}`);
    const more = [...operations, { ...operations[2]!, verb: "stop" }];
    expect(
      (await types.updateResourceType({ path: typePath, resourceType: { operations: more } })).operations,
    ).toHaveLength(5);
  });
});
