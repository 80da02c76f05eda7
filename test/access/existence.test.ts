// What an answer tells about resources of other tenants: nothing, whatever refers to them in a request. Every method of every
// service, with every field that can refer to something, taken from the descriptors.
import { type DescMethodUnary, type DescService, type JsonObject, getOption, toJson } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import pMap from "p-map";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Protocol, createTransport } from "../support/transports.ts";
import { describeService } from "../rpc/describe-service.ts";
import {
  type EveryCall,
  type Request,
  callMethod,
  callMethodWhenFree,
  callsOf,
  eachOf,
  hasRoute,
  unaryMethods,
} from "./every-call.ts";
import { type Probe, type Variant, bigIntsAsText, probesOf } from "./existence-probes.ts";
import { type FurnishedOrg, furnishOrg, removeInfrastructure } from "./furnish-org.ts";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { openReads } from "../support/service-catalog.ts";
import { rounds } from "../support/rounds.ts";

// The others tell every caller what there is, or are about the caller or a token, which the request contains; or errors have a form of their
// own (test/scim/sources.test.ts).
const others: ReadonlySet<DescService> = new Set([TokensService, MeService, ScimService]);
const methods = unaryMethods([...services, ...standardServices]).filter(
  ({ name, method }) => !openReads.has(name) && !others.has(method.parent),
);

/** Those of a standard that is spoken over HTTP only. */
const isRestOnly = ({ parent }: DescMethodUnary): boolean => standardServices.includes(parent);

const owner = "the owner of another org and customer";
const callers = ["a member with no role", owner] as const;

/** The states of what others have. What is suspended is found as what is in use; only `npm run soak` asks about it, too. */
const states = ["in use", "deleted", "suspended"] as const;
const askedStates = states.slice(0, rounds(2, states.length));

interface Case {
  readonly protocol: Protocol;
  readonly asking: readonly (typeof callers)[number][];
  /** Whether a method is asked. */
  readonly asks: (method: DescMethodUnary) => boolean;
}

/** What `npm run soak` asks. The protocols lead to the same handlers. */
const everything: readonly Case[] = [
  { protocol: "gRPC", asking: callers, asks: () => true },
  { protocol: "Connect JSON", asking: [owner], asks: () => true },
  { protocol: "REST", asking: [owner], asks: () => true },
];
const some: readonly Case[] = [
  { protocol: "gRPC", asking: [owner], asks: () => true },
  { protocol: "REST", asking: [owner], asks: isRestOnly },
];
const cases = rounds(some, everything);

let server: TestServer;
let operator: Api;
let keys: Readonly<Record<(typeof callers)[number], string>>;
/** What belongs to the callers. */
let own: FurnishedOrg;
/** What belongs to others, by the state that it is in. */
let foreign: Readonly<Record<(typeof states)[number], FurnishedOrg>>;
/** A page token of others, by method. */
let tokens: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer();
  operator = createApi("gRPC", server.url, server.operatorKey);
  const [acme, suspended, deleted, umbrella] = [
    await createOrg("acme"),
    await createOrg("suspended"),
    await createOrg("deleted"),
    await createOrg("umbrella"),
  ];
  foreign = { "in use": await furnish(acme), suspended: await furnish(suspended), deleted: await furnish(deleted) };
  own = await furnish(umbrella);
  tokens = await takeTokens(acme, foreign["in use"]);
  await operator.orgs.suspendOrg({ path: suspended.path });
  await removeInfrastructure(operator, foreign.deleted.names);
  await operator.customers.deleteCustomer({ path: deleted.customerPath });

  const member = required(own.names["orgs/members"]);
  const stranger = await operator.members.createMember({ parentPath: umbrella.path, member: { name: "stranger" } });
  keys = {
    "a member with no role": await keyOf(stranger.path),
    [owner]: await keyOf(member),
  };
});
afterAll(() => server.close());

const createOrg = (name: string): Promise<Org> => operator.orgs.createOrg({ org: { name: uniqueName(name) } });

async function keyOf(parentPath: string): Promise<string> {
  return (await operator.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("key") } })).secret ?? "";
}

/** One of every resource, with an owner of the org and of its customer. */
async function furnish(org: Org): Promise<FurnishedOrg> {
  const { names, ids } = await furnishOrg(operator, org);
  const bind = async (parentPath: string, subjectPath: string) => {
    const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/owner", subjectPath };
    return operator.roleBindings.createRoleBinding({ parentPath, roleBinding });
  };
  const member = required(names["orgs/members"]);
  await bind(org.path, member);
  const onCustomer = await bind(org.customerPath, member);
  const onService = await bind(required(names["services"]), "/orgs/system/members/operator");
  const onPlatform = await bind("", "/orgs/system/members/operator");
  return {
    names: {
      ...names,
      roles: "/roles/viewer",
      "customers/roleBindings": onCustomer.path,
      "services/roleBindings": onService.path,
      roleBindings: onPlatform.path,
    },
    ids: {
      ...ids,
      "customers/roleBindings": `${required(ids["customers"])}/roleBindings/@${onCustomer.id}`,
      "services/roleBindings": `${required(ids["services"])}/roleBindings/@${onService.id}`,
      roleBindings: `/roleBindings/@${onPlatform.id}`,
    },
  };
}

/** Makes so much that every list has a second page, and takes the tokens for it. */
async function takeTokens(org: Org, { names }: FurnishedOrg): Promise<Record<string, string>> {
  const more = await furnishOrg(operator, org);
  const roleBinding = { name: "second", rolePath: "/roles/owner", subjectPath: required(more.names["orgs/members"]) };
  await operator.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
  const taken: Record<string, string> = {};
  for (const { name, method, rules } of methods.filter((each) => isPaged(each.method))) {
    const calls = callsOf(method, rules, names).filter(({ about }) => about === "present");
    for (const { path, request } of calls) {
      const answer = await callMethod(operator.transport, method, { ...ofAllParents(request, path), pageSize: 1 });
      taken[name] ||= (answer as { nextPageToken: string }).nextPageToken;
    }
    expect({ name, token: taken[name] }).toEqual({ name, token: expect.stringMatching(/./) });
  }
  return taken;
}

/** A list of what is in all resources like the one at a path, unless that is the org or its customer. */
function ofAllParents(request: Request, path: string): Request {
  const isParent = "parentPath" in request && !/^\/(orgs|customers)\/[^/]+$/.test(path);
  return isParent ? { ...request, parentPath: path.replace(/[^/]+$/, "-") } : request;
}

/** What is written beside the calls, when it has happened: there is no second page. */
const withoutPages = new Set(["ListAccessEvents", "ListWebhookDeliveries"]);

const isPaged = ({ input, name }: DescMethodUnary): boolean =>
  !withoutPages.has(name) && input.fields.some((field) => field.name === "page_token");

/** What differs between two answers to the same request. */
const volatile = new Set([
  // Others write.
  "revision",
  "id",
  "createTime",
  "updateTime",
  "lastUseTime",
  "nextAttemptTime",
  "expireTime",
  "lapseTime",
  "decideTime",
  "endTime",
  "deleteTime",
  "purgeTime",
  "secret",
  "prefix",
  "etag",
]);

/** Returns what matches a text, unless it is the beginning of another name. */
function wholly(text: string): RegExp {
  return new RegExp(`${text.replaceAll(/[^\w/@-]/g, String.raw`\$&`)}(?!\\d)`, "g");
}

/** A list that takes long ends its page early, so that what is on one page depends on how busy the machine is: its item field, by method. */
const pagesEndEarly: ReadonlyMap<string, string> = new Map([["ListFindings", "findings"]]);

async function answerOf(transport: Transport, method: DescMethodUnary, request: Request): Promise<JsonObject> {
  const answer = await callMethodWhenFree(transport, method, request);
  const json = toJson(method.output, answer as never) as JsonObject;
  const pageToken = json["nextPageToken"];
  const items = pagesEndEarly.get(method.name);
  if (items === undefined || pageToken === undefined) return json;
  const rest = await answerOf(transport, method, { ...request, pageToken });
  return { ...rest, [items]: [json[items] ?? [], rest[items] ?? []].flat() };
}

async function textOf(transport: Transport, method: DescMethodUnary, request: Request): Promise<string> {
  try {
    return JSON.stringify(withoutVolatile(await answerOf(transport, method, request)));
  } catch (error) {
    const { requestId: _id, ...failure } = await failureOf(Promise.reject(error));
    return JSON.stringify(failure);
  }
}

/** An answer or a failure as text, without what was given, and without what is new with each call. */
async function answerTo(transport: Transport, method: DescMethodUnary, variant: Variant): Promise<string> {
  const text = await textOf(transport, method, variant.request);
  // Errors name what is given, or what it is in, or repeat the beginning of a path that has the wrong form.
  const segments = variant.given.split("/");
  const prefixes = segments.map((_, index) => segments.slice(0, segments.length - index).join("/")).slice(0, -2);
  const known = [variant.given, ...prefixes].filter((part) => part !== "");
  return (
    known
      .reduce((left, part) => left.replaceAll(wholly(part), "<given>"), text)
      .replace(/got \\"[^"]*\\"/, "got <given>")
      // A new operation has no name, so that its path contains its id.
      .replace(/\/operations\/@[0-9a-f-]{36}/, "/operations/@<id>")
  );
}

function withoutVolatile(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutVolatile);
  if (typeof json !== "object" || json === null) return json;
  const kept = Object.entries(json as JsonObject).filter(([key]) => !volatile.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutVolatile(value)]));
}

describe.each(cases)("over $protocol", ({ protocol, asking, asks }) => {
  const transports = new Map<string, Transport>();
  /** Returns the transport of a caller. It is reused, because each one opens its own connections. */
  const transportOf = (key: string): Transport => {
    const transport = transports.get(key) ?? createTransport(protocol, server.url, key);
    transports.set(key, transport);
    return transport;
  };

  describe.concurrent.each(
    methods.filter(({ method }) => asks(method) && (protocol === "REST" || !isRestOnly(method))),
  )("$name", ({ name, method, rules }) => {
    const isPossible = (path: string): boolean => protocol !== "REST" || hasRoute(method, { path });

    let built: Probe[] | undefined;
    const probes = (): Probe[] =>
      (built ??= probesOf(method, rules, {
        own,
        foreign: askedStates.map((state) => foreign[state]),
        // Of a list without a second page, a token of another list.
        tokens: [tokens[name] ?? required(Object.values(tokens)[0])],
        turn: methods.findIndex((each) => each.name === name),
      })
        .map(({ title, variants }) => ({ title, variants: variants.filter(({ path }) => isPossible(path)) }))
        .filter(({ variants }) => variants.length > 0));

    const bases = (): EveryCall[] =>
      callsOf(method, rules, own.names).filter(({ about, path }) => about === "present" && isPossible(path));

    test("is asked about something, and lets an owner ask about what is its own", async () => {
      expect(probes().length).toBeGreaterThan(0);
      const transport = transportOf(keys[owner]);
      await eachOf(bases(), async ({ path, request }) => {
        if (!/^\/(orgs|customers)\//.test(path)) return;
        const failure = await callMethod(transport, method, request).then(
          () => undefined,
          (error: unknown) => failureOf(Promise.reject(error)),
        );
        // A replay and a rollback need the revision of a change.
        if (failure?.message.includes("revision: must be")) return;
        // The requests change the names of what they update.
        if (failure?.metadata["permission"] === getOption(method, authorization).renamePermission) return;
        const isRefused = ["PermissionDenied", "InvalidArgument"].includes(failure?.code ?? "");
        expect({ path, failure: isRefused ? failure : undefined }).toEqual({ path, failure: undefined });
      });
    });

    test.each(asking)("tells %s the same of what is there and of what is not", async (caller) => {
      const transport = transportOf(keys[caller]);
      // Several probes ask for the same that is not there.
      const asked = new Map<string, Promise<string>>();
      const ask = (variant: Variant): Promise<string> => {
        const key = JSON.stringify(variant, bigIntsAsText);
        const answer = asked.get(key) ?? answerTo(transport, method, variant);
        asked.set(key, answer);
        return answer;
      };
      await eachOf(probes(), async ({ title, variants }) => {
        expect(variants.length).toBeGreaterThan(1);
        // One after the other, since a method may serve few calls of an org at once, and end its page early after a long wait.
        const answers = await pMap(variants, ask, { concurrency: 1 });
        const told = variants.map(({ given }, index) => ({ title, given, answer: answers[index] }));
        expect(told).toEqual(told.map((each) => ({ ...each, answer: answers.at(-1) })));
      });
    });
  });
});

test("a field of which it is not known what it can refer to is refused", () => {
  const option = { permission: "iam.things.update", pathField: "path" };
  const service = describeService({ option, resourceType: "iam.tenantry.dev/Org", fields: ["owner"] });
  const [method] = service.methods as [DescMethodUnary];
  const rules = required(createMethodTable([service]).get(method));
  const worlds = { own, foreign: [foreign["in use"]], tokens: [], turn: 0 };
  expect(() => probesOf(method, rules, worlds)).toThrow(
    "say in existence-probes.ts what field test.GetThingRequest.owner",
  );
});

describe.each(["org", "customer"] as const)("an owner cannot change the name of its %s", (kind) => {
  type Update = (path: string, fields: object, options?: object) => Promise<{ path: string; displayName: string }>;
  const updateAs =
    (api: Api): Update =>
    (path, fields, options = {}) =>
      kind === "org"
        ? api.orgs.updateOrg({ path, org: fields, ...options })
        : api.customers.updateCustomer({ path, customer: fields, ...options });
  const ownPath = () => required(own.names[`${kind}s`]);
  const takenName = () => required(required(foreign["in use"].names[`${kind}s`]).split("/").at(-1));

  test.each([true, false])("with validate_only: %s", async (validateOnly) => {
    const update = updateAs(createApi("gRPC", server.url, keys[owner]));
    for (const name of [takenName(), uniqueName("free")]) {
      expect(await failureOf(update(ownPath(), { name }, { validateOnly }))).toMatchObject({
        code: "PermissionDenied",
        reason: "PERMISSION_DENIED",
        message: expect.stringContaining("the caller lacks the permission iam.orgs.create on the platform"),
        metadata: { permission: "iam.orgs.create" },
      });
    }
  });

  test("and can change everything else, also when it sends the name back", async () => {
    const update = updateAs(createApi("gRPC", server.url, keys[owner]));
    const [name, displayName] = [ownPath().split("/").at(-1), uniqueName("Shown")];
    const updateMask = { paths: ["*"] };
    expect((await update(ownPath(), { name, displayName }, { updateMask })).displayName).toBe(displayName);
  });

  test("whoever may create orgs can, and learns which names are taken", async () => {
    const update = updateAs(operator);
    const org = await createOrg("renamed");
    const path = kind === "org" ? org.path : org.customerPath;
    expect(await failureOf(update(path, { name: takenName() }))).toMatchObject({ code: "AlreadyExists" });
    const name = uniqueName("free");
    expect((await update(path, { name })).path).toBe(`/${kind}s/${name}`);
  });
});

test("a change of a name that waits for its lock is refused once its author has lost the permission", async () => {
  const parentPath = "/orgs/system";
  const admin = await operator.members.createMember({ parentPath, member: { name: "admin" } });
  const roleBinding = { name: "admin", rolePath: "/roles/admin", subjectPath: admin.path };
  const { path: bindingPath } = await operator.roleBindings.createRoleBinding({ roleBinding });
  const api = createApi("gRPC", server.url, await keyOf(admin.path));
  const org = await createOrg("waiting");
  const rename = () => failureOf(api.orgs.updateOrg({ path: org.path, org: { name: takenOrg() } }));
  const takenOrg = () => required(required(foreign["in use"].names["orgs"]).split("/").at(-1));
  expect(await rename()).toMatchObject({ code: "AlreadyExists" });

  const sql = await openSqlClient(server.databaseUrl);
  await sql.query("begin");
  await sql.query("select from orgs where id = $1 for update", [org.id]);
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  const renamed = rename();
  await expect.poll(() => sql.query(waiting)).toHaveLength(1);
  await operator.roleBindings.deleteRoleBinding({ path: bindingPath });
  await sql.query("commit");
  await sql.close();
  expect(await renamed).toMatchObject({ code: "PermissionDenied", metadata: { permission: "iam.orgs.update" } });
});
