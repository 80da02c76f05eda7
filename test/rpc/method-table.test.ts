import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { SearchService } from "../../gen/iam/v1alpha/search_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { registry } from "../../src/resource-registry.ts";
import { required } from "../../src/errors/required.ts";
import { isSingletonType, methodNouns } from "../../src/paths/patterns.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { openReads } from "../support/service-catalog.ts";
import { describeService } from "./describe-service.ts";

const table = createMethodTable(services);
const methods = services.flatMap((service) => service.methods);

const rulesOf = (method: DescMethod): MethodRules => {
  const rules = table.get(method);
  if (rules === undefined) throw new Error(`${method.name} is not in the table`);
  return rules;
};

describe("the method table", () => {
  test("matches test/rpc/methods.golden.txt", async () => {
    const text = methods.map(describeMethod).join("");
    await expect(text).toMatchFileSnapshot("methods.golden.txt");
  });

  test("has every method of every service, by its full name", () => {
    expect(table.size).toBe(methods.length);
    for (const method of methods) {
      expect(rulesOf(method).name).toBe(`${method.parent.typeName}/${method.name}`);
    }
  });
});

/** Methods that only read and have other verbs than GET, for requests too long for a URL. */
const readsByOtherVerbs: readonly string[] = [
  ...registry.definitions
    .map(({ type }) => `BatchGet${methodNouns(type).many}`)
    .filter((name) => methods.some((method) => method.name === name)),
  ...AccessService.methods.map(({ name }) => name),
  "WaitOperation",
  "IntrospectToken",
  // It sends a file, and changes nothing.
  "PlanOrg",
  // They change claims and progress, which are neither in the change log nor in a revision.
  "ClaimOperations",
  "RenewOperation",
  // It sends a request, and changes nothing.
  "TestWebhook",
  // They change how far a stream is delivered, which is neither in the change log nor in a revision.
  "PollEventStream",
  "VerifyEventStream",
].toSorted();

test("methods with only GET, and those in this list, are reads; all others are writes", () => {
  const isGetOnly = (method: DescMethod): boolean => {
    const rule = getOption(method, http);
    return [rule, ...rule.additionalBindings].every((binding) => binding.pattern.case === "get");
  };
  const namesOf = (some: readonly DescMethod[]): string[] => some.map(({ name }) => name).toSorted();
  const [getOnly, others] = [methods.filter(isGetOnly), methods.filter((method) => !isGetOnly(method))];
  expect(namesOf(getOnly.filter((method) => !rulesOf(method).reads))).toEqual([]);
  expect(namesOf(others.filter((method) => rulesOf(method).reads))).toEqual(readsByOtherVerbs);
});

/** A log is of one org, customer or the platform. */
const ofLogs: ReadonlySet<string> = new Set([
  "ListAccessEvents",
  "ListChanges",
  "ListFindings",
  "ListWebhookDeliveries",
]);

/** The rules of the standard methods. A method with another name needs its own line. */
const verbs: Record<string, { verb: string; field: string; wildcards: string; http: string }> = {
  Get: { verb: "get", field: "path", wildcards: "above-id", http: "get" },
  List: { verb: "list", field: "parent_path", wildcards: "anywhere", http: "get" },
  Create: { verb: "create", field: "parent_path", wildcards: "nowhere", http: "post" },
  Update: { verb: "update", field: "path", wildcards: "nowhere", http: "patch" },
  Delete: { verb: "delete", field: "path", wildcards: "nowhere", http: "delete" },
  Watch: { verb: "list", field: "parent_path", wildcards: "above-id", http: "get" },
  Undelete: { verb: "undelete", field: "path", wildcards: "nowhere", http: "post" },
  Suspend: { verb: "suspend", field: "path", wildcards: "nowhere", http: "post" },
  Activate: { verb: "activate", field: "path", wildcards: "nowhere", http: "post" },
  Purge: { verb: "purge", field: "path", wildcards: "nowhere", http: "post" },
  Run: { verb: "{operation}", field: "path", wildcards: "nowhere", http: "post" },
  Wait: { verb: "get", field: "path", wildcards: "above-id", http: "post" },
  Cancel: { verb: "cancel", field: "path", wildcards: "nowhere", http: "post" },
  Revoke: { verb: "revokeTokens", field: "path", wildcards: "nowhere", http: "post" },
  Approve: { verb: "approve", field: "path", wildcards: "nowhere", http: "post" },
  Decline: { verb: "decline", field: "path", wildcards: "nowhere", http: "post" },
  End: { verb: "end", field: "path", wildcards: "nowhere", http: "post" },
  Reject: { verb: "reject", field: "path", wildcards: "nowhere", http: "post" },
  Invite: { verb: "invite", field: "parent_path", wildcards: "nowhere", http: "post" },
  Send: { verb: "sendInvitation", field: "path", wildcards: "nowhere", http: "post" },
  Rotate: { verb: "rotate", field: "path", wildcards: "nowhere", http: "post" },
  Impersonate: { verb: "impersonate", field: "path", wildcards: "nowhere", http: "post" },
  Erase: { verb: "erase", field: "path", wildcards: "nowhere", http: "post" },
  Pause: { verb: "pause", field: "path", wildcards: "nowhere", http: "post" },
  Resume: { verb: "resume", field: "path", wildcards: "nowhere", http: "post" },
  Replay: { verb: "replay", field: "path", wildcards: "nowhere", http: "post" },
  Export: { verb: "export", field: "path", wildcards: "above-id", http: "get" },
  Plan: { verb: "plan", field: "path", wildcards: "above-id", http: "post" },
  Apply: { verb: "apply", field: "path", wildcards: "nowhere", http: "post" },
  Rollback: { verb: "rollback", field: "path", wildcards: "nowhere", http: "post" },
  // Who reads everything may ask what it consumes.
  Query: { verb: "get", field: "parent_path", wildcards: "above-id", http: "get" },
  Inspect: { verb: "inspect", field: "path", wildcards: "above-id", http: "get" },
  Verify: { verb: "verify", field: "path", wildcards: "above-id", http: "post" },
  Poll: { verb: "poll", field: "path", wildcards: "above-id", http: "post" },
  Test: { verb: "test", field: "path", wildcards: "above-id", http: "post" },
  Confirm: { verb: "confirm", field: "path", wildcards: "nowhere", http: "post" },
  BatchGet: { verb: "get", field: "parent_path", wildcards: "anywhere", http: "get" },
  BatchCreate: { verb: "create", field: "parent_path", wildcards: "nowhere", http: "post" },
  BatchDelete: { verb: "delete", field: "parent_path", wildcards: "nowhere", http: "post" },
};

/** Methods on resources without a parent: on the whole platform. */
const onPlatform = new Set(
  registry.definitions
    .filter(({ places }) => places[0].parents.length === 0)
    .map(({ type }) => methodNouns(type))
    .flatMap(({ one, many }) => [
      `Create${one}`,
      ...["List", "BatchGet", "BatchCreate", "BatchDelete"].map((verb) => verb + many),
    ]),
);

const areaOf = ({ parent }: DescMethod): string => required(parent.file.proto.package.split(".")[0]);

/** The methods of these services have other names. */
const others: ReadonlySet<DescService> = new Set([
  AccessService,
  ProviderService,
  TokensService,
  MeService,
  SearchService,
]);
const ofResources = methods.filter(({ parent }) => !others.has(parent));

/** Methods on infrastructure resources, whose types define the permissions. A BatchGet reads resources of any type. */
const isTyped = ({ name, parent }: DescMethod): boolean => parent === ResourcesService && !name.startsWith("BatchGet");

/** A batch can create in several groups, members or projects of an org. */
const createsInSeveral = (method: DescMethod): boolean =>
  method.name.startsWith("BatchCreate") &&
  !isTyped(method) &&
  rulesOf(method).target?.patterns.some((pattern) => pattern[0] === "orgs" && pattern.length > 1) === true;

describe.each(ofResources)("$name", (method) => {
  const [, verbName = "", noun = ""] = /^((?:Batch)?[A-Z][a-z]+)([A-Z].*)$/.exec(method.name) ?? [];
  const isOfMember = method.name === "RevokeTokens" || method.name === "SendInvitation";
  const isOfContact = method.name === "SendConfirmation";
  const collection = isOfMember
    ? "members"
    : isOfContact
      ? "contacts"
      : noun.endsWith("s") || noun === "Usage"
        ? noun
        : `${noun.replace(/ty$/, "tie")}s`;
  const isOfSingleton = isSingletonType(noun);
  const isOfLog = method.name === "GetChangesHead";
  const standard = isOfContact ? { ...verbs["Send"], verb: "sendConfirmation" } : verbs[verbName];

  test("requires the permission that its name implies", () => {
    const prefix = `${areaOf(method)}.${collection[0]?.toLowerCase()}${collection.slice(1)}`;
    // Who may list a log may have its end.
    const implied = isOfLog ? "iam.changes.list" : `${prefix}.${standard?.verb}`;
    const expected = isTyped(method) ? `{service}.{collection}.${standard?.verb}` : implied;
    const isOpen = openReads.has(`${method.parent.typeName}/${method.name}`);
    const { permission, typedPermission } = rulesOf(method);
    expect(permission).toBe(isOpen || isTyped(method) ? undefined : expected);
    expect(typedPermission).toBe(isTyped(method) ? expected : undefined);
  });

  test("requires it on the resource in the request, with the wildcards of its kind of method", () => {
    const { target } = rulesOf(method);
    expect(target === undefined).toBe(onPlatform.has(method.name));
    expect([target?.name, target?.wildcards]).toEqual(
      target === undefined
        ? [undefined, undefined]
        : [
            isOfSingleton || isOfLog ? "parent_path" : standard?.field,
            // A log names one parent.
            ofLogs.has(method.name) ? "above-id" : createsInSeveral(method) ? "last-in-org" : standard?.wildcards,
          ],
    );
  });

  /** Predefined roles are only read, and not in batches. */
  const isOfPredefinedRoles = (template: string): boolean =>
    /Roles?$/.test(method.name) && !/^(Get|List)/.test(method.name) && !template.startsWith("orgs/");

  test("has a REST path for each pattern of its target", () => {
    const { target } = rulesOf(method);
    const rule = getOption(method, http);
    const paths = [rule, ...rule.additionalBindings].map((binding) => /\{(\w+)=([^}]*)\}/.exec(pathOf(binding)));
    const templates = templatesOf(target).filter((each) => !isOfPredefinedRoles(each));
    expect(new Set(paths.map((variable) => variable?.[2] ?? ""))).toEqual(new Set(templates));
    for (const variable of paths) expect([undefined, target?.name]).toContain(variable?.[1]);
  });

  test("has the HTTP verb of its kind, under the base path", () => {
    const rule = getOption(method, http);
    expect(rule.pattern.case).toBe(standard?.http);
    expect(pathOf(rule).split("/").slice(0, 3)).toEqual(["", areaOf(method), "v1alpha"]);
  });
});

const creating = methods.filter((method) => rulesOf(method).createPermission !== undefined);

test.each(creating)("$name requires the same permission to create as its service's Create", (method) => {
  const create = method.parent.methods.find(({ name }) => name === method.name.replace("Update", "Create"));
  expect(create).toBeDefined();
  expect(rulesOf(method).createPermission).toBe(create && rulesOf(create).permission);
});

describe("a server does not start with a method", () => {
  const build = (change: Partial<Parameters<typeof describeService>[0]>): (() => unknown) => {
    const service: DescService = describeService({
      option: { permission: "iam.things.get", pathField: "path" },
      resourceType: "iam.tenantry.dev/Org",
      ...change,
    });
    return () => createMethodTable([service]);
  };

  test("unless its options are valid", () => {
    expect(build({})).not.toThrow();
    expect(build({ option: { permission: "iam.things.get", pathField: "" } })).not.toThrow();
  });

  test("without the option", () => {
    expect(build({ option: undefined })).toThrow(
      "test.ThingsService/GetThing has no (iam.v1alpha.authorization) option",
    );
  });

  test.each(["", "things.get", "iam.things", "iam.things.get.all", "IAM.things.get", "iam.*.get", "iam..get"])(
    "with an invalid permission: %j",
    (permission) => {
      expect(build({ option: { permission, pathField: "path" } })).toThrow(
        `test.ThingsService/GetThing: the permission ${JSON.stringify(permission)} is not <area>.<collection>.<verb>`,
      );
    },
  );

  test.each(["nothing", "size", "Path"])("whose path field is not a string field of the request: %s", (pathField) => {
    expect(build({ option: { permission: "iam.things.get", pathField } })).toThrow(
      `test.ThingsService/GetThing: its path_field ${pathField} is not a string field of test.GetThingRequest`,
    );
  });

  test.each(["{service}.{collection}.", "{service}.{collection}.get.all", "{service}.things.get"])(
    "with an invalid typed permission: %j",
    (permission) => {
      expect(build({ option: { permission, pathField: "path" } })).toThrow("is not <area>.<collection>.<verb>");
    },
  );

  const option = { permission: "iam.things.update", pathField: "path" };
  const mayCreate = ["update_mask", "allow_missing"];

  test("that can create without a create_permission, or has one that it does not use", () => {
    const createPermission = "iam.things.create";
    expect(build({ option: { ...option, createPermission }, fields: mayCreate })).not.toThrow();
    expect(build({ option, fields: mayCreate })).toThrow(
      "test.ThingsService/GetThing: it takes allow_missing, but has no create_permission",
    );
    expect(build({ option: { ...option, createPermission } })).toThrow(
      "test.ThingsService/GetThing: it has a create_permission, but does not take allow_missing",
    );
    // A Delete also has allow_missing.
    expect(build({ option, fields: ["allow_missing"] })).not.toThrow();
    expect(build({ option: { ...option, createPermission: "create" }, fields: mayCreate })).toThrow(
      'test.ThingsService/GetThing: the create_permission "create" is not <area>.<collection>.<verb>',
    );
  });

  test("with a rename_permission that it does not use, or that is invalid", () => {
    const renamePermission = "iam.things.create";
    expect(build({ option: { ...option, renamePermission }, fields: ["update_mask"] })).not.toThrow();
    expect(build({ option: { ...option, renamePermission } })).toThrow(
      "test.ThingsService/GetThing: it has a rename_permission, but does not take update_mask",
    );
    expect(build({ option: { ...option, renamePermission: "create" }, fields: ["update_mask"] })).toThrow(
      'test.ThingsService/GetThing: the rename_permission "create" is not <area>.<collection>.<verb>',
    );
  });

  test("with lists_all_orgs that is not a list", () => {
    const lists = { ...option, listsAllOrgs: true };
    expect(build({ option: lists, fields: ["page_size"] })).not.toThrow();
    expect(build({ option: lists })).toThrow(
      "test.ThingsService/GetThing: it has lists_all_orgs, but does not take page_size",
    );
  });

  test.each([
    { permission: "iam.things.get" },
    { createPermission: "iam.things.create" },
    { renamePermission: "iam.things.create" },
    { listsAllOrgs: true },
  ])("for anyone that has a permission: %j", (asked) => {
    expect(build({ option: { anyone: true } })).not.toThrow();
    expect(build({ option: { anyone: true, ...asked } })).toThrow(
      "test.ThingsService/GetThing: a method that anyone may call must not have a permission",
    );
  });

  test.each(["", "iam.tenantry.dev/Nothing", "Nothing"])(
    "whose path field refers to no resource: %j",
    (resourceType) => {
      expect(build({ resourceType })).toThrow(
        "test.ThingsService/GetThing: path has no resource_reference to a known resource",
      );
    },
  );
});

/** Returns the patterns of a target as path templates; empty for the whole platform. */
function templatesOf(target: MethodRules["target"]): string[] {
  return (target?.patterns ?? [[]]).map((pattern) => pattern.map((each) => `${each}/*`).join("/"));
}

/** Returns what callers see of a method besides its messages, with a line for each of its bindings. */
function describeMethod(method: DescMethod): string {
  const { name, typedPermission, permission = typedPermission, target } = rulesOf(method);
  const where =
    target === undefined
      ? "on the platform"
      : `on ${target.name}=${templatesOf(target).join("|")}, wildcards ${target.wildcards}`;
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings]
    .map((binding) => `${name} | ${permission} ${where} | ${describeBinding(binding)}\n`)
    .join("");
}

function describeBinding(rule: HttpRule): string {
  const verb = rule.pattern.case === "custom" ? rule.pattern.value.kind : (rule.pattern.case ?? "none");
  const body = rule.body === "" ? "" : ` body=${rule.body}`;
  const responseBody = rule.responseBody === "" ? "" : ` response_body=${rule.responseBody}`;
  return `${verb.toUpperCase()} ${pathOf(rule)}${body}${responseBody}`;
}

function pathOf({ pattern }: HttpRule): string {
  return pattern.case === "custom" ? pattern.value.path : (pattern.value ?? "");
}
