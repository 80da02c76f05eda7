// Tests that callers without access get nothing from any method of any service, and that every protocol returns the same.
// The methods are those of the descriptors.
import { type DescMethodUnary, toJson, toJsonString } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createApi } from "../support/api.ts";
import { type Failure, failureOf } from "../support/failure.ts";
import { EventStreamsService } from "../../gen/iam/v1alpha/event_stream_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { rounds } from "../support/rounds.ts";
import { openReads } from "../support/service-catalog.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Protocol, createTransport, createUsualGrpcTransport, protocols } from "../support/transports.ts";
import {
  type EveryCall,
  type Paths,
  type Request,
  callMethod,
  oneOfTwo,
  callsOf,
  eachOf,
  hasRoute,
  unaryMethods,
} from "./every-call.ts";
import { createEveryPlace } from "./every-place.ts";

const table = createMethodTable([...services, ...standardServices]);
// The requests of the others contain the credential, or their errors have a form of their own (test/scim/sources.test.ts).
const methods = unaryMethods([...services, ...standardServices]).filter(
  ({ method, rules }) => !rules.unauthenticated && method.parent !== ScimService,
);

/** The methods that the tables of access leave out, by the files that say who may call them. */
const streams = { "test/events/watch-changes.test.ts": "iam.v1alpha.ChangesService/WatchChanges" };

test("each stream is in a file that says who may open it", () => {
  const found = [...table].flatMap(([{ methodKind }, { name }]) => (methodKind === "unary" ? [] : [name]));
  expect(found).toEqual(Object.values(streams));
});

/** Methods of a standard that is defined only for HTTP. */
const isRestOnly = ({ parent }: DescMethodUnary): boolean => standardServices.includes(parent);

/** Methods that anybody may call. Their responses reveal nothing about others. */
const forAnyone = ["iam.v1alpha.AccessService/TestPermissions", "iam.v1alpha.SearchService/SearchResources"];

/** Methods that anybody may call about the token in the request, or about itself. */
const ofTokens = TokensService.methods
  .filter(({ name }) => name !== "RefreshToken")
  .map(({ name }) => `iam.v1alpha.TokensService/${name}`);

/** The method that tells callers who they are; test/api/me.test.ts. */
const ofCaller = ["iam.v1alpha.MeService/GetMe"];

/** List methods that return the caller's own resources if the parent is empty. */
const ofOwn = ["iam.v1alpha.OrgsService/ListOrgs", "iam.v1alpha.RolesService/ListRoles"];

let server: TestServer;
let paths: Paths;
/** API keys of callers that hold nothing in the org that is asked about. */
let keys: Readonly<Record<Nobody, string>>;

type Nobody = (typeof nobodies)[number] | (typeof unknowns)[number];
const nobodies = ["a member with no role", "the owner of another org"] as const;
const unknowns = ["a suspended member", "a deleted member", "an expired key"] as const;

beforeAll(async () => {
  server = await startTestServer();
  const api = createApi("gRPC", server.url, server.operatorKey);
  const acme = await api.orgs.createOrg({ org: { name: "acme" } });
  const umbrella = await api.orgs.createOrg({ org: { name: "umbrella" } });

  const join = async (org: string, name: string): Promise<string> =>
    (await api.members.createMember({ parentPath: org, member: { name } })).path;
  const keyOf = async (member: string, fields: object = {}): Promise<string> =>
    (await api.apiKeys.createApiKey({ parentPath: member, apiKey: { name: "ci", ...fields } })).secret ?? "";
  const bind = async (parent: string, subjectPath: string, name: string): Promise<string> => {
    const roleBinding = { name, rolePath: "/roles/owner", subjectPath };
    return (await api.roleBindings.createRoleBinding({ parentPath: parent, roleBinding })).path;
  };

  paths = await createEveryPlace(api, acme);

  const stranger = await join(acme.path, "stranger");
  const rival = await join(umbrella.path, "rival");
  const [suspended, deleted, late] = [
    await join(acme.path, "suspended"),
    await join(acme.path, "deleted"),
    await join(acme.path, "late"),
  ];
  await bind(acme.path, suspended, "suspended");
  await bind(acme.path, deleted, "deleted");
  await bind(acme.path, late, "late");
  await bind(umbrella.path, rival, "rival");
  keys = {
    "a member with no role": await keyOf(stranger),
    "the owner of another org": await keyOf(rival),
    "a suspended member": await keyOf(suspended),
    "a deleted member": await keyOf(deleted),
    "an expired key": await keyOf(late, { expireTime: timestampFromDate(new Date("2100-01-01")) }),
  };
  await api.members.suspendMember({ path: suspended });
  await api.members.deleteMember({ path: deleted });
  const sql = await openSqlClient(server.databaseUrl);
  await sql.query("update api_keys set expire_time = now() where expire_time = '2100-01-01Z'");
  await sql.close();
});
afterAll(() => server.close());

/** Expects the same error for existing and missing resources. */
function expectRefusal(
  { requestId: _id, ...failure }: Failure,
  rules: MethodRules,
  metadata: Readonly<Record<string, string>> = {},
): void {
  const permission = requiredBy(rules, failure);
  expect(failure).toEqual({
    code: "PermissionDenied",
    reason: "PERMISSION_DENIED",
    message: `the caller lacks the permission ${permission} on this resource (or it might not exist)`,
    fields: [],
    metadata: { permission, ...metadata },
  });
}

/** What a refusal tells a member of acme about what is in it or in each org, whether it is there or not. Nobody asks for a request of others. */
const howToAsk = (path: string, { openToMembers }: MethodRules): Readonly<Record<string, string>> =>
  /^\/(orgs\/acme|roles)(\/|$)/.test(path) && !openToMembers ? { access_requests: "/orgs/acme/accessRequests" } : {};

/** Returns the permission that a refusal names. */
function requiredBy(
  { permission, typedPermission = "" }: MethodRules,
  { metadata }: Pick<Failure, "metadata">,
): string {
  if (permission !== undefined) return permission;
  if (typedPermission.endsWith(".list")) return "resources.resources.list";
  // The request names the type, which everybody may read.
  if (typedPermission.endsWith(".create")) return metadata["permission"]?.match(/^\w+\.\w+\.create$/)?.[0] ?? "";
  return typedPermission;
}

/** Removes the request id, which differs between calls. */
function withoutId({ requestId: _id, ...failure }: Failure): Omit<Failure, "requestId"> {
  return failure;
}

/** Returns the response as JSON, or the failure. */
function answerFrom(transport: Transport, method: DescMethodUnary, request: Request): Promise<unknown> {
  return callMethod(transport, method, request).then(
    (message) => toJson(method.output, message as never, { useProtoFieldName: true }),
    async (error: unknown) => withoutId(await failureOf(Promise.reject(error))),
  );
}

/** Each method over one protocol. The last table compares the protocols. `npm run soak` asks everything over both. */
const tables = rounds(
  [
    { protocol: "gRPC", asks: (method: DescMethodUnary) => !isRestOnly(method) },
    { protocol: "REST", asks: isRestOnly },
  ],
  [
    { protocol: "gRPC", asks: (method: DescMethodUnary) => !isRestOnly(method) },
    { protocol: "REST", asks: () => true },
  ],
) satisfies { protocol: Protocol; asks: (method: DescMethodUnary) => boolean }[];

describe.each(tables)("over $protocol", ({ protocol, asks }) => {
  const transports = new Map<string, Transport>();
  /** Returns the transport of a caller. It is reused, because each one opens its own connections. */
  const transportOf = (key: string): Transport => {
    const transport = transports.get(key) ?? createTransport(protocol, server.url, key);
    transports.set(key, transport);
    return transport;
  };

  describe.concurrent.each(methods.filter(({ method }) => asks(method)))("$name", ({ method, rules }) => {
    let built: EveryCall[] | undefined;
    const calls = (): EveryCall[] =>
      (built ??= callsOf(method, rules, paths).filter((call) => protocol !== "REST" || hasRoute(method, call)));

    /** What is there, each path with `-`, and one path to nothing for each pattern: existence.test.ts asks for all that leads to nothing. */
    const fewerCalls = (): EveryCall[] => {
      const missing = calls().filter(({ about }) => about === "missing");
      const turn = methods.findIndex((each) => each.method === method);
      return rounds(
        calls().filter((call) => call.about !== "missing" || missing.indexOf(call) % 3 === turn % 3),
        calls(),
      );
    };

    /** Reports whether members of any org can read the path, because they have the permission in their own org. */
    const isShared = (path: string): boolean =>
      path.startsWith("/roles/") || (path === "" && ofOwn.includes(rules.name));

    test("allows the operator, so that the calls are valid", async () => {
      const transport = transportOf(server.operatorKey);
      const possible = calls().filter((call) => call.about === "present" && hasRoute(method, call));
      expect(possible).not.toEqual([]);
      await eachOf(possible, async ({ path, request }) => {
        const failure = await callMethod(transport, method, { ...request, ...oneOfTwo(method) }).then(
          () => undefined,
          (error: unknown) => failureOf(Promise.reject(error)),
        );
        // The log of the platform is that of all orgs and customers, and has no end.
        if (rules.name.endsWith("/GetChangesHead") && path === "") return;
        // A replay needs the revision of a change.
        if (rules.name.endsWith("/ReplayWebhook") && failure?.message.includes("from_revision: must be")) return;
        const isRefused = ["PermissionDenied", "Unauthenticated", "InvalidArgument"].includes(failure?.code ?? "");
        expect({ path, failure: isRefused ? failure : undefined }).toEqual({ path, failure: undefined });
      });
    });

    test.each(unknowns)("rejects %s as unauthenticated", async (caller) => {
      const transport = transportOf(keys[caller]);
      // The credential is refused before the path is read, so that it does not matter which one it is.
      const asked = rounds(calls().slice(0, 1), calls());
      const failures = await Promise.all(
        asked.map(async ({ request }) => withoutId(await failureOf(callMethod(transport, method, request)))),
      );
      expect(failures).not.toEqual([]);
      for (const failure of failures) {
        expect(failure).toEqual(failures[0]);
        expect(failure).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID", metadata: {} });
      }
    });

    if (openReads.has(rules.name)) {
      test.each(nobodies)("returns the same to %s as to the operator", async (caller) => {
        await eachOf(calls(), async ({ request }) => {
          const [answer, expected] = await Promise.all(
            [keys[caller], server.operatorKey].map((key) => answerFrom(transportOf(key), method, request)),
          );
          expect(answer).toEqual(expected);
        });
      });
      return;
    }

    if (ofTokens.includes(rules.name) || ofCaller.includes(rules.name)) return;

    if (forAnyone.includes(rules.name)) {
      test.each(nobodies)("returns the same to %s whether or not the resource exists", async (caller) => {
        const transport = transportOf(keys[caller]);
        const answers = await Promise.all(
          calls().map(async ({ request }) =>
            toJsonString(method.output, (await callMethod(transport, method, request)) as never),
          ),
        );
        expect(answers.length).toBeGreaterThan(1);
        expect(new Set(answers).size).toBe(1);
        expect(answers[0]).not.toContain(rules.permission ?? "iam.orgs.get");
      });
      return;
    }

    test("rejects a member with no role, and does not reveal what exists", async () => {
      const transport = transportOf(keys["a member with no role"]);
      await eachOf(fewerCalls(), async ({ about, path, request }) => {
        const call = callMethod(transport, method, request);
        // Members of an org ask for access in it. They are shown no request of others: test/iam/access-requests.
        if (rules.openToMembers && about === "present" && "parentPath" in request) await call;
        else expectRefusal(await failureOf(call), rules, howToAsk(path, rules));
      });
    });

    test("rejects the owner of another org, and does not reveal what exists", async () => {
      const transport = transportOf(keys["the owner of another org"]);
      await eachOf(fewerCalls(), async ({ about, path, request }) => {
        const call = callMethod(transport, method, request);
        if (isShared(path) || (about === "any" && rules.listVisibility !== "never")) {
          const told = await call.then(
            (answer) => toJsonString(method.output, answer as never),
            async (error: unknown) => JSON.stringify(await failureOf(Promise.reject(error))),
          );
          expect(told).not.toContain("acme");
        } else {
          expectRefusal(await failureOf(call), rules);
        }
      });
    });
  });
});

/** A protocol of each encoding that is of the service: binary, and what REST makes of JSON. */
const ofEncodings: readonly Protocol[] = ["gRPC", "REST"];

describe("over every protocol", () => {
  let transports: Readonly<Record<Protocol, Transport>>;
  beforeAll(() => {
    const { url, operatorKey } = server;
    const open = (protocol: Protocol) => [protocol, createTransport(protocol, url, operatorKey)] as const;
    transports = {
      ...(Object.fromEntries(protocols.map(open)) as Record<Protocol, Transport>),
      gRPC: createUsualGrpcTransport(url, operatorKey),
    };
  });

  const overAll = methods.filter(({ method }) => !isRestOnly(method));
  // What a stream answers to who polls changes with each verification that is asked for.
  const ofStreams = overAll.filter(({ method }) => method === EventStreamsService.method.verifyEventStream);
  const others = overAll.filter((each) => !ofStreams.includes(each));
  const title = "$name returns the same, for existing and missing resources";
  test.concurrent.each(others)(title, ({ method, rules }) => returnsTheSame(method, rules));
  test.each(ofStreams)(title, ({ method, rules }) => returnsTheSame(method, rules));

  async function returnsTheSame(method: DescMethodUnary, rules: MethodRules): Promise<void> {
    const present = callsOf(method, rules, paths).find(({ about }) => about === "present");
    const missing = callsOf(method, rules, paths).find(({ about }) => about === "missing");
    // Connect and gRPC-Web frame the bytes that gRPC sends, Connect JSON has the ProtoJSON of each message, and each protocol encodes
    // errors alike, whatever the method: test/rpc/unary. One method of each service is called over all.
    const isFirst = method.parent.methods[0] === method;
    const asked = [
      { call: present, over: rounds(isFirst ? protocols : ofEncodings, protocols) },
      { call: missing, over: rounds(isFirst ? protocols : [], protocols) },
    ];
    for (const { call, over } of asked) {
      if (call === undefined) continue;
      const answers = await Promise.all(
        over
          .filter((protocol) => protocol !== "REST" || hasRoute(method, call))
          .map(async (protocol) => ({ protocol, answer: await answerOver(protocol, method, call) })),
      );
      for (const { protocol, answer } of answers) expect({ protocol, answer }).toEqual({ ...answers[0], protocol });
    }
  }

  /** Fields that differ between two calls with the same result. */
  const ownOfCall = new Set([
    "id",
    "etag",
    "attempt_time",
    "duration",
    "jti",
    "next_attempt_time",
    // A signature with ES256 is another each time.
    "jws",
    "secret",
    "prefix",
    "create_time",
    "update_time",
    "decide_time",
    // Of now, where a request about usage does not say it.
    "from_time",
    "to_time",
    "delete_time",
    "purge_time",
    "expire_time",
    "lapse_time",
    "end_time",
    "previous_secret_expire_time",
  ]);

  async function answerOver(protocol: Protocol, method: DescMethodUnary, { request }: EveryCall): Promise<unknown> {
    const answer = await answerFrom(transports[protocol], method, request);
    return JSON.parse(
      JSON.stringify(answer, (key, value: unknown) => {
        // Written some time after a key is used, so that it appears between two calls.
        if (key === "last_use_time") return undefined;
        if (ownOfCall.has(key)) return typeof value;
        // Operations have no names, so that paths contain their ids.
        return typeof value === "string" ? value.replace(/\/operations\/@.*$/, "/operations/@<id>") : value;
      }),
    );
  }
});

test("only TestPermissions, GetMe, methods about tokens and reads of the service catalog require no permission", () => {
  const open = methods
    .filter(({ rules }) => rules.permission === undefined && rules.typedPermission === undefined)
    .map(({ name }) => name);
  expect(open.toSorted()).toEqual([...forAnyone, ...ofTokens, ...ofCaller, ...openReads].toSorted());
  const trimming = methods.filter(({ rules }) => rules.listVisibility === "always").map(({ name }) => name);
  expect(trimming.toSorted()).toEqual(ofOwn);
});
