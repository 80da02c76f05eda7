// Tests the service catalog, which every caller can read and only the operator can change.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  OperationTypeSchema,
  QualityVariableSchema,
  QuantityVariableSchema,
} from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";

type Operation = MessageInitShape<typeof OperationTypeSchema>;
type Quantity = MessageInitShape<typeof QuantityVariableSchema>;
type Quality = MessageInitShape<typeof QualityVariableSchema>;

let server: TestServer;
let api: Api;
/** The path of a service without types. */
let compute: string;

beforeAll(async () => {
  server = await startTestServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  compute = (await api.services.createService({ service: { name: "compute" } })).path;
  await api.quantityKinds.createQuantityKind({ quantityKind: { name: "cpu_cores", unit: "core", step: 0.1 } });
  await api.quantityKinds.createQuantityKind({ quantityKind: { name: "memory", unit: "byte" } });
  await api.qualityKinds.createQualityKind({ qualityKind: { name: "tier", highestGrade: 4 } });
  await api.qualityKinds.createQualityKind({ qualityKind: { name: "iso_27001" } });
});
afterAll(() => server.close());

const createType = (operations: Operation[], fields: object = {}, parentPath = compute) => {
  const name = uniqueName("type");
  return api.resourceTypes.createResourceType({
    parentPath,
    resourceType: { name, collection: name, operations: withDelete(operations), ...fields },
  });
};

/** Adds the operation `delete`, which a type with `create` must have. */
function withDelete(operations: Operation[]): Operation[] {
  const verbs = new Set(operations.map(({ verb }) => verb));
  return verbs.has("create") && !verbs.has("delete") ? [...operations, { verb: "delete" }] : operations;
}

/** Expects that a call is refused because of exactly these fields. */
async function expectViolations(
  call: Promise<unknown>,
  violations: Readonly<Record<string, string>>,
  start = "resource_type.operations",
): Promise<void> {
  const failure = await failureOf(call);
  expect(failure).toMatchObject({
    code: "InvalidArgument",
    reason: "FIELD_INVALID",
    fields: Object.keys(violations).map((field) => `${start}${field}`),
  });
  for (const [field, description] of Object.entries(violations)) {
    expect(failure.message).toContain(`${start}${field}: ${description}`);
  }
}

describe("a kind that is created with only the required fields", () => {
  test("has steps of 1 and one grade", async () => {
    const { step } = await api.quantityKinds.getQuantityKind({ path: "quantityKinds/memory" });
    const { highestGrade } = await api.qualityKinds.getQualityKind({ path: "qualityKinds/iso_27001" });
    expect([step, highestGrade]).toEqual([1, 1]);
  });
});

describe("an operation", () => {
  const quantityRules: readonly [what: string, variable: Quantity, field: string, description: string][] = [
    ["an unknown kind", { kind: "cores" }, "kind", 'must be the name of a QuantityKind; there is none named "cores"'],
    [
      "the name of a quality",
      { kind: "tier" },
      "kind",
      'must be the name of a QuantityKind; there is none named "tier"',
    ],
    [
      "a step between those of its kind",
      { kind: "cpu_cores", step: 0.25 },
      "step",
      "must be a multiple of 0.1, the step of the QuantityKind cpu_cores",
    ],
    ["a minimum between steps", { kind: "cpu_cores", minimum: 0.25 }, "minimum", "must be a multiple of 0.1"],
    ["a maximum between steps", { kind: "memory", maximum: 1.5 }, "maximum", "must be a multiple of 1"],
    [
      "a default between steps",
      { kind: "cpu_cores", defaultAmount: 0.05 },
      "default_amount",
      "must be a multiple of 0.1",
    ],
    [
      "a minimum between steps of its own",
      { kind: "cpu_cores", step: 0.2, minimum: 0.3 },
      "minimum",
      "must be a multiple of 0.2",
    ],
    [
      "a maximum below its minimum",
      { kind: "memory", minimum: 3, maximum: 2 },
      "maximum",
      "must be at least the minimum, 3",
    ],
    [
      "a default although it is required",
      { kind: "memory", required: true, defaultAmount: 1 },
      "default_amount",
      "must be unset: a required Quantity has no default",
    ],
    [
      "a default below its minimum",
      { kind: "memory", minimum: 2, defaultAmount: 1 },
      "default_amount",
      "must lie between the minimum and the maximum",
    ],
    [
      "a default above its maximum",
      { kind: "memory", maximum: 2, defaultAmount: 3 },
      "default_amount",
      "must lie between the minimum and the maximum",
    ],
    ["a step of 0", { kind: "memory", step: 0 }, "step", "must be"],
    ["a minimum below 0", { kind: "memory", minimum: -1 }, "minimum", "must be"],
    ["a minimum without end", { kind: "memory", minimum: Infinity }, "minimum", "must be"],
    ["a name that no kind has", { kind: "cpu-cores" }, "kind", "must be 1 to 63 characters, lowercase letters"],
    ["no kind", {}, "kind", "must be set"],
  ];
  const qualityRules: readonly [what: string, variable: Quality, field: string, description: string][] = [
    [
      "an unknown kind",
      { kind: "iso_9001" },
      "kind",
      'must be the name of a QualityKind; there is none named "iso_9001"',
    ],
    ["a maximum of 0", { kind: "tier", maximum: 0 }, "maximum", "must be"],
    [
      "a maximum that its kind does not have",
      { kind: "tier", maximum: 5 },
      "maximum",
      "must be at most 4, the highest grade of the QualityKind tier",
    ],
  ];

  test.each(quantityRules)("refuses a quantity with %s", async (_what, variable, field, description) => {
    for (const [list, name] of [
      ["quantities", "quantities"],
      ["givenQuantities", "given_quantities"],
    ] as const) {
      const operations = [{ verb: "create", [list]: [variable] }];
      await expectViolations(createType(operations), { [`[0].${name}[0].${field}`]: description });
    }
  });

  test.each(qualityRules)("refuses a quality with %s", async (_what, variable, field, description) => {
    for (const [list, name] of [
      ["qualities", "qualities"],
      ["givenQualities", "given_qualities"],
    ] as const) {
      const operations = [{ verb: "create", [list]: [variable] }];
      await expectViolations(createType(operations), { [`[0].${name}[0].${field}`]: description });
    }
  });

  test("refuses a kind that the list already has; each list is separate", async () => {
    const twice = [{ kind: "memory" }, { kind: "cpu_cores" }, { kind: "memory" }];
    await expectViolations(createType([{ verb: "create", quantities: twice }]), {
      "[0].quantities[2].kind": "must differ from that of the variable 0: a list has one variable of a kind",
    });
    const grades = [{ kind: "tier" }, { kind: "tier", maximum: 2 }];
    await expectViolations(createType([{ verb: "create", givenQualities: grades }]), {
      "[0].given_qualities[1].kind": "must differ from that of the variable 0",
    });
    const memory = [{ kind: "memory" }];
    await createType([
      { verb: "create", quantities: memory, givenQuantities: memory },
      { verb: "resize", quantities: memory },
    ]);
  });

  test("refuses a concurrent operation that begins or ends what others work on, or that has variables", async () => {
    const beside = { concurrent: true };
    const always = ["create", "delete", "undelete", "purge", "suspend", "resume"];
    await expectViolations(
      createType(always.map((verb) => ({ verb, ...beside }))),
      Object.fromEntries(
        always.map((verb, index) => [`[${index}].concurrent`, `must be false: ${verb} always runs alone`]),
      ),
    );
    const variables = { quantities: "memory", givenQuantities: "memory", qualities: "tier", givenQualities: "tier" };
    for (const [list, kind] of Object.entries(variables)) {
      await expectViolations(createType([{ verb: "snapshot", ...beside, [list]: [{ kind }] }]), {
        "[0].concurrent": "must be false: the operation has ",
      });
    }
    const { operations } = await createType([{ verb: "snapshot", ...beside }, { verb: "restart" }]);
    expect(operations.map(({ concurrent }) => concurrent)).toEqual([true, false]);
  });

  test("refuses a duplicate verb, an invalid one, and none", async () => {
    await expectViolations(createType([{ verb: "create" }, { verb: "resize" }, { verb: "create" }]), {
      "[2].verb": "must differ from that of operations[0]: a verb names one operation",
    });
    await expectViolations(createType([{ verb: "Create" }]), {
      "[0].verb":
        'must be 1 to 42 characters, letters (a-z, A-Z) and digits, and start with a lowercase letter, as in permissions, for example "instances" or "resize"',
    });
    for (const verb of ["get", "list", "update", "use"]) {
      await expectViolations(createType([{ verb: "create" }, { verb }]), {
        "[1].verb": "must be none of get, list, update, use, the verbs of permissions on all resources",
      });
    }
    await expectViolations(createType([{}]), { "[0].verb": "must be set" });
    await expectViolations(createType([]), { "": "must be set" });
  });

  test("with several errors is refused with all of them, in a batch, too", async () => {
    const operations: Operation[] = [
      { verb: "create", quantities: [{ kind: "memory", minimum: 0.5, maximum: 0.25 }, { kind: "discs" }] },
      {
        verb: "create",
        givenQuantities: [{ kind: "cpu_cores", step: 0.15, required: true, defaultAmount: 0.15 }],
        qualities: [{ kind: "tier", maximum: 9 }],
        givenQualities: [{ kind: "tier" }, { kind: "tier", maximum: 9 }],
      },
      { verb: "delete" },
    ];
    const fields = [
      "[0].quantities[0].minimum",
      "[0].quantities[0].maximum",
      "[0].quantities[1].kind",
      "[1].verb",
      "[1].qualities[0].maximum",
      "[1].given_quantities[0].step",
      "[1].given_quantities[0].default_amount",
      "[1].given_qualities[1].kind",
      "[1].given_qualities[1].maximum",
    ];
    const fieldsOf = async (call: Promise<unknown>) => new Set((await failureOf(call)).fields);
    const expected = (start: string) => new Set(fields.map((field) => start + field));
    expect(await fieldsOf(createType(operations))).toEqual(expected("resource_type.operations"));
    const { path } = await createType([{ verb: "create" }]);
    const update = api.resourceTypes.updateResourceType({ path, resourceType: { operations } });
    expect(await fieldsOf(update)).toEqual(expected("resource_type.operations"));
    const requests = [withDelete([{ verb: "create" }]), operations].map((each) => {
      const name = uniqueName("type");
      return { resourceType: { name, collection: name, operations: each } };
    });
    const batch = api.resourceTypes.batchCreateResourceTypes({ parentPath: compute, requests });
    expect(await fieldsOf(batch)).toEqual(expected("requests[1].resource_type.operations"));
  });

  test("refuses a QuantityKind whose amounts could only be 0; without a step, it is 1", async () => {
    const create = (step?: number) =>
      api.quantityKinds.createQuantityKind({
        quantityKind: { name: uniqueName("kind"), unit: "piece", ...(step !== undefined && { step }) },
      });
    for (const step of [0, -1]) {
      expect(await failureOf(create(step))).toMatchObject({
        code: "InvalidArgument",
        fields: ["quantity_kind.step"],
        message: expect.stringContaining("greater than 0"),
      });
    }
    expect((await create()).step).toBe(1);
  });

  test("accepts decimal amounts, and returns them exactly", async () => {
    await api.quantityKinds.createQuantityKind({ quantityKind: { name: "grams", unit: "gram", step: 1e-7 } });
    const quantities = [
      { kind: "cpu_cores", minimum: 0.3, maximum: 0.7, step: 0.1, defaultAmount: 0.6 },
      { kind: "memory", minimum: 0, maximum: 1e21, step: 1024, defaultAmount: 1_099_511_627_776 },
      { kind: "grams", minimum: 3e-7, maximum: 1.1 },
    ];
    const { path } = await createType([{ verb: "create", quantities, qualities: [{ kind: "tier", maximum: 4 }] }]);
    const [operation] = (await api.resourceTypes.getResourceType({ path })).operations;
    expect(operation).toMatchObject({ verb: "create", quantities, qualities: [{ kind: "tier", maximum: 4 }] });
    expect((await api.quantityKinds.getQuantityKind({ path: "quantityKinds/grams" })).step).toBe(1e-7);
  });
});

describe("a resource in use cannot be deleted:", () => {
  const inUse = { code: "FailedPrecondition", reason: "RESOURCE_IN_USE" };

  test("a service with types", async () => {
    const { path, name } = await api.services.createService({ service: { name: uniqueName("service") } });
    const type = await createType([{ verb: "create" }], {}, path);
    const empty = await api.services.createService({ service: { name: uniqueName("service") } });
    expect(await failureOf(api.services.deleteService({ path }))).toMatchObject({
      ...inUse,
      message: `the service /services/${name} is used by ${type.path}; delete that first`,
      metadata: { resource: path, used_by: type.path },
    });
    const paths = [empty.path, path];
    expect(await failureOf(api.services.batchDeleteServices({ paths }))).toMatchObject({
      ...inUse,
      metadata: { resource: path, used_by: type.path },
    });
    await api.resourceTypes.deleteResourceType({ path: type.path });
    await api.services.batchDeleteServices({ paths });
  });

  test.each(["quantities", "givenQuantities"] as const)("a QuantityKind in the %s of a type", async (list) => {
    const kind = await api.quantityKinds.createQuantityKind({
      quantityKind: { name: uniqueName("kind"), unit: "piece" },
    });
    const operations = [{ verb: "create" }, { verb: "resize", [list]: [{ kind: kind.name }] }];
    const { path } = await createType(operations);
    const remove = () => api.quantityKinds.deleteQuantityKind({ path: kind.path });
    expect(await failureOf(remove())).toMatchObject({ ...inUse, metadata: { resource: kind.path, used_by: path } });
    await api.resourceTypes.updateResourceType({
      path,
      resourceType: { operations: [{ verb: "create" }, { verb: "delete" }] },
    });
    await remove();
  });

  test.each(["qualities", "givenQualities"] as const)("a QualityKind in the %s of a type", async (list) => {
    const kind = await api.qualityKinds.createQualityKind({ qualityKind: { name: uniqueName("kind") } });
    const { path } = await createType([{ verb: "create", [list]: [{ kind: kind.name }] }]);
    const remove = () => api.qualityKinds.deleteQualityKind({ path: kind.path });
    expect(await failureOf(remove())).toMatchObject({ ...inUse, metadata: { resource: kind.path, used_by: path } });
    await api.resourceTypes.deleteResourceType({ path });
    await remove();
  });
});

describe("names", () => {
  test("and the fields that amounts depend on cannot be changed", async () => {
    const { path } = await createType([{ verb: "create" }], { name: "fixed" });
    const immutable = { code: "InvalidArgument", message: expect.stringContaining("cannot be changed") as unknown };
    const { services, quantityKinds, qualityKinds, resourceTypes } = api;
    const [quantityPath, qualityPath] = ["quantityKinds/memory", "qualityKinds/tier"];
    const updates: Readonly<Record<string, () => Promise<unknown>>> = {
      "service.name": () => services.updateService({ path: compute, service: { name: "computing" } }),
      "quantity_kind.name": () =>
        quantityKinds.updateQuantityKind({ path: quantityPath, quantityKind: { name: "other" } }),
      "quantity_kind.unit": () =>
        quantityKinds.updateQuantityKind({ path: quantityPath, quantityKind: { unit: "other" } }),
      "quantity_kind.step": () => quantityKinds.updateQuantityKind({ path: quantityPath, quantityKind: { step: 2 } }),
      "quality_kind.name": () => qualityKinds.updateQualityKind({ path: qualityPath, qualityKind: { name: "other" } }),
      "quality_kind.highest_grade": () =>
        qualityKinds.updateQualityKind({ path: qualityPath, qualityKind: { highestGrade: 5 } }),
      "resource_type.name": () => resourceTypes.updateResourceType({ path, resourceType: { name: "renamed" } }),
      "resource_type.collection": () =>
        resourceTypes.updateResourceType({ path, resourceType: { collection: "other" } }),
    };
    for (const [field, update] of Object.entries(updates)) {
      expect(await failureOf(update())).toMatchObject({ ...immutable, fields: [field] });
    }
  });

  test.each(["my-compute", "Compute", "1st", "a_b", "a".repeat(43), "iam", "resources"])(
    "of services are no %s",
    async (name) => {
      const failure = await failureOf(api.services.createService({ service: { name } }));
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["service.name"] });
      expect(failure.message).toContain("differ from the areas of this API, iam and resources");
    },
  );

  test.each(["cpu-cores", "Cores", "1st", "_a", "a".repeat(64)])("of kinds cannot be %s", async (name) => {
    const quantity = api.quantityKinds.createQuantityKind({ quantityKind: { name, unit: "piece" } });
    expect(await failureOf(quantity)).toMatchObject({ code: "InvalidArgument", fields: ["quantity_kind.name"] });
    const quality = api.qualityKinds.createQualityKind({ qualityKind: { name } });
    expect(await failureOf(quality)).toMatchObject({ code: "InvalidArgument", fields: ["quality_kind.name"] });
  });

  test("of collections are unique in their service", async () => {
    const { path } = await api.services.createService({ service: { name: uniqueName("service") } });
    const create = (parent: string) => createType([{ verb: "create" }], { collection: "buckets" }, parent);
    await create(path);
    expect(await failureOf(create(path))).toMatchObject({
      code: "AlreadyExists",
      reason: "RESOURCE_EXISTS",
      message: 'there is already a resource type with the collection "buckets" in the service',
      metadata: { collection: "buckets" },
    });
    await create(compute);
  });

  test("of the greatest length form a permission that a role can have", async () => {
    const long = "a".repeat(42);
    const { path } = await api.services.createService({ service: { name: long } });
    await createType([{ verb: long }], { collection: long }, path);
    const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const permissions = [`${long}.${long}.${long}`];
    const role = await api.roles.createRole({ parentPath, role: { name: "long", permissions } });
    expect(role.permissions).toEqual(permissions);
  });
});

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  /** Creates a member of a new org, with a role there or none. */
  const memberWith = async (rolePath?: string): Promise<Api> => {
    const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const { path } = await api.members.createMember({ parentPath, member: { name: "alice" } });
    if (rolePath !== undefined) {
      const roleBinding = { name: "role", rolePath, subjectPath: path };
      await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
    }
    const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
    return createApi(protocol, server.url, required(secret));
  };

  test("a member without any role can read the catalog", async () => {
    const type = await createType([{ verb: "create", quantities: [{ kind: "cpu_cores" }] }]);
    const reader = await memberWith();
    const { services, quantityKinds, qualityKinds, resourceTypes } = reader;
    expect((await services.getService({ path: compute })).name).toBe("compute");
    expect((await services.listServices({ filter: 'name = "compute"' })).services).toHaveLength(1);
    expect((await services.batchGetServices({ paths: [compute] })).services).toHaveLength(1);
    expect((await quantityKinds.getQuantityKind({ path: "quantityKinds/cpu_cores" })).step).toBe(0.1);
    expect((await quantityKinds.listQuantityKinds({ filter: 'unit = "core"' })).quantityKinds).toHaveLength(1);
    expect((await qualityKinds.getQualityKind({ path: "qualityKinds/tier" })).highestGrade).toBe(4);
    expect((await qualityKinds.listQualityKinds({ filter: 'name = "iso_*"' })).qualityKinds).toHaveLength(1);
    expect(await resourceTypes.getResourceType({ path: type.path })).toEqual(type);
    expect(await resourceTypes.getResourceType({ path: `services/-/resourceTypes/@${type.id}` })).toEqual(type);
    const filter = `collection = "${type.collection}"`;
    for (const parentPath of [compute, "/services/-"]) {
      expect((await resourceTypes.listResourceTypes({ parentPath, filter })).resourceTypes).toEqual([type]);
    }
    expect(await failureOf(services.getService({ path: "services/nothing" }))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(services.getService({ path: "services/Compute" }))).toMatchObject({ fields: ["path"] });
  });

  test("the catalog cannot be read without a key", async () => {
    const stranger = createApi(protocol, server.url, undefined);
    expect(await failureOf(stranger.services.listServices({}))).toMatchObject({ code: "Unauthenticated" });
  });

  test("only the operator can change it, not the owner of an org", async () => {
    const type = await createType([{ verb: "create" }]);
    const name = uniqueName("mine");
    const writes = ({ services, quantityKinds, qualityKinds, resourceTypes }: Api) => [
      () => services.createService({ service: { name } }),
      () => services.updateService({ path: compute, service: { description: name } }),
      () => quantityKinds.createQuantityKind({ quantityKind: { name, unit: "piece" } }),
      () => qualityKinds.createQualityKind({ qualityKind: { name } }),
      () =>
        resourceTypes.createResourceType({
          parentPath: compute,
          resourceType: { name, collection: name, operations: [{ verb: "create" }, { verb: "delete" }] },
        }),
      () => resourceTypes.updateResourceType({ path: type.path, resourceType: { description: name } }),
      () => resourceTypes.deleteResourceType({ path: type.path }),
      () => quantityKinds.deleteQuantityKind({ path: `quantityKinds/${name}` }),
      () => qualityKinds.deleteQualityKind({ path: `qualityKinds/${name}` }),
      () => services.deleteService({ path: `services/${name}` }),
    ];
    for (const write of writes(await memberWith("/roles/owner"))) {
      expect(await failureOf(write())).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
    }
    for (const write of writes(createApi(protocol, server.url, server.operatorKey))) await write();
  });
});

test("refuses a unit with characters that cannot be stored", async () => {
  const created = api.quantityKinds.createQuantityKind({ quantityKind: { name: "odd", unit: "by\0te" } });
  await expect(created).rejects.toThrow("quantity_kind.unit: must not contain control characters");
});
