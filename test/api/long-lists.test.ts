// A long message with too many items is refused before it is parsed; a short one when it is validated. The errors are the same.
import { gzipSync } from "node:zlib";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { BadRequestSchema, ErrorInfoSchema, RequestInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { maxUncheckedLength } from "../../src/rest/limits/item-limit.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { protocols } from "../support/transports.ts";

let server: SharedServer;
let org: string;
beforeAll(async () => {
  server = await sharedServer();
  const operator = createApi("REST", server.url, server.operatorKey);
  org = (await operator.orgs.createOrg({ org: { name: uniqueName("org") } })).path;
});

interface Callers extends Api {
  readonly access: Client<typeof AccessService>;
}

/** Returns all that an error says but the id of its request. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const error = ConnectError.from(
    await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    ),
  );
  expect(error.findDetails(RequestInfoSchema)).toMatchObject([{ requestId: /./ }]);
  const info = error.findDetails(ErrorInfoSchema);
  return { code: error.code, message: error.rawMessage, info, bad: error.findDetails(BadRequestSchema) };
}

const short = "a.b.c";
const long = `a.b.${"c".repeat(60)}`;
const texts = (count: number, start: string): string[] =>
  Array.from({ length: count }, (_, index) => `${start}${index}`);
/** Labels that are long together, where `key` is long. */
const labels = (count: number, key: string) =>
  Object.fromEntries(texts(count, key).map((name) => [name.slice(-63), "v".repeat(key.length > 10 ? 63 : 1)]));
const longKey = `k${"x".repeat(50)}`;
const many = (count: number, item: string) =>
  Array.from({ length: 200 }, (_, index) => (index === 150 ? count : 1)).map((size) => labels(size, item));

type Send = (callers: Callers, item: string) => Promise<unknown>;

const tooMany: [what: string, field: string, rule: string, send: Send, items: readonly [string, string]][] = [
  [
    "a list of the request",
    "permissions",
    "REPEATED_MAX_ITEMS",
    ({ access }, item) => access.testPermissions({ resourcePath: org, permissions: texts(1001, item) }),
    [short, long],
  ],
  [
    "a list of a resource",
    "role.permissions",
    "REPEATED_MAX_ITEMS",
    ({ roles }, item) =>
      roles.createRole({ parentPath: org, role: { name: "auditor", permissions: texts(1001, item) } }),
    [short, long],
  ],
  [
    "labels",
    "member.labels",
    "LABELS_COUNT",
    ({ members }, item) => members.createMember({ parentPath: org, member: { name: "a", labels: labels(300, item) } }),
    ["k", longKey],
  ],
  [
    "labels of an update",
    "member.labels",
    "LABELS_COUNT",
    ({ members }, item) =>
      members.updateMember({
        path: `${org}/members/none`,
        member: { labels: labels(300, item) },
        updateMask: { paths: ["labels"] },
      }),
    ["k", longKey],
  ],
  [
    "labels in an item of a batch",
    "requests[150].member.labels",
    "LABELS_COUNT",
    ({ members }, item) =>
      members.batchCreateMembers({
        parentPath: org,
        requests: many(65, item).map((each) => ({ member: { name: "a", labels: each } })),
      }),
    ["k", longKey],
  ],
];

describe.each(protocols)("%s refuses", (protocol) => {
  const callersOf = (): Callers => {
    const api = createApi(protocol, server.url, server.operatorKey);
    return { ...api, access: createClient(AccessService, api.transport) };
  };

  test.each(tooMany)("%s", async (_what, field, rule, send, [fewBytes, manyBytes]) => {
    const refused = await errorOf(send(callersOf(), fewBytes));
    expect(refused).toMatchObject({
      info: [{ reason: "FIELD_INVALID" }],
      bad: [{ fieldViolations: [{ field, reason: rule }] }],
    });
    expect(await errorOf(send(callersOf(), manyBytes))).toEqual(refused);
  });

  test("nothing at the limits", async () => {
    const { members } = callersOf();
    const names = texts(5, uniqueName("m"));
    const requests = names.map((name) => ({ member: { name, labels: labels(64, longKey) } }));
    const created = await members.batchCreateMembers({ parentPath: org, requests });
    expect(created.members.map(({ labels: held }) => Object.keys(held).length)).toEqual([64, 64, 64, 64, 64]);
  });
});

describe("a long body over REST", () => {
  const send = async (path: string, body: string | Buffer, coding: Record<string, string> = {}) => {
    expect(body.length > maxUncheckedLength || coding["content-encoding"] !== undefined).toBe(true);
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json", ...coding },
      body,
    });
    const { error } = (await response.json()) as { error: { status: string; message: string } };
    return `${response.status} ${error.status} ${error.message}`;
  };
  const members = (): string => `/iam/v1alpha${org}/members`;
  const entries = texts(76_000, "k")
    .map((key) => `"${key}":""`)
    .join(",");
  const refused = "400 INVALID_ARGUMENT labels: must hold at most 64 labels";

  test.each([
    ["that ends after the limit", `{"labels":{${entries.slice(0, 100_000)}`],
    ["that is no JSON after the limit", `{"labels":{${entries},]}}`],
    ["with a key twice", `{"labels":{${entries},"k1":""}}`],
    ["with the field twice", `{"labels":{},"labels":{${entries}}}`],
    ["with escapes in the key", `{"l\\u0061bels":{${entries}}}`],
  ])("%s is refused for its labels", async (_what, body) => {
    expect(await send(members(), body)).toBe(refused);
  });

  test("that is compressed is refused for its labels", async () => {
    const body = gzipSync(`{"labels":{${entries}}}`);
    expect(await send(members(), body, { "content-encoding": "gzip" })).toBe(refused);
  });

  test("whose list is in a field of another type is refused for that", async () => {
    const body = `{"display_name":[${Array(20_000).fill(0).join()}]}`;
    expect(await send(members(), body)).toContain("display_name: must be a string, got an array");
  });

  test("with too many evaluations, and fields that are not known, is refused for the evaluations", async () => {
    const evaluation = '{"subject":{"type":"member","id":"a","new":1}}';
    const body = `{"new":[1,2],"evaluations":[${Array(1001).fill(evaluation).join()}]}`;
    expect(await send("/access/v1/evaluations", body)).toMatch(
      /^400 INVALID_ARGUMENT evaluations: must contain no more/,
    );
  });
});
