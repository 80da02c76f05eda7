// Connect over GET: reads are called with their message in the query.
import { gzipSync } from "node:zlib";
import { create, getOption, hasOption, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type Interceptor, createClient } from "@connectrpc/connect";
import { createNodeHttpClient } from "@connectrpc/connect-node";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { GetMemberRequestSchema, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

const orgName = uniqueName("acme");
const parentPath = `orgs/${orgName}`;
let server: SharedServer;
let api: Api;
beforeAll(async () => {
  server = await sharedServer();
  api = createApi("Connect", server.url, server.operatorKey);
  await api.orgs.createOrg({ org: { name: orgName } });
  await api.members.createMember({ parentPath, member: { name: "alice", displayName: "Älice" } });
});

const alice = `${parentPath}/members/alice`;
const json = JSON.stringify({ path: alice });
const binary = Buffer.from(toBinary(GetMemberRequestSchema, create(GetMemberRequestSchema, { path: alice })));

test("the methods that REST serves with GET have no side effects, and no others say so", () => {
  const methods = services.flatMap(({ methods: all }) => all).filter(({ methodKind }) => methodKind === "unary");
  const isRead = (method: (typeof methods)[number]): boolean => {
    const rule = hasOption(method, http) ? getOption(method, http) : undefined;
    return rule !== undefined && [rule, ...rule.additionalBindings].some(({ pattern }) => pattern.case === "get");
  };
  const says = methods.filter(({ idempotency }) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS);
  expect(says.map(({ name }) => name)).toEqual(methods.filter(isRead).map(({ name }) => name));
  expect(says.length).toBeGreaterThan(40);
});

test.each([
  ["JSON", false, "1.1"],
  ["Protobuf", true, "2"],
] as const)("a client reads with GET: %s", async (_encoding, useBinaryFormat, httpVersion) => {
  const verbs: string[] = [];
  const client = createNodeHttpClient({ httpVersion });
  const authenticate: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${server.operatorKey}`);
    return next(request);
  };
  const transport = createTransport({
    baseUrl: server.url,
    useBinaryFormat,
    useHttpGet: true,
    interceptors: [authenticate],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: 1024,
    readMaxBytes: 1_000_000,
    writeMaxBytes: 1_000_000,
    httpClient(request) {
      verbs.push(request.method);
      return client(request);
    },
  });
  const members = createClient(MembersService, transport);
  expect(await members.getMember({ path: alice })).toMatchObject({ displayName: "Älice" });
  expect((await members.listMembers({ parentPath, filter: 'display_name = "Älice"' })).members).toHaveLength(1);
  await expect(members.getMember({ path: `${parentPath}/members/bob` })).rejects.toThrow("not_found");
  expect(verbs).toEqual(["GET", "GET", "GET"]);
});

/** Calls GetMember with these query parameters. */
async function get(parameters: Record<string, string> | string, headers: Record<string, string> = authorization()) {
  const query = typeof parameters === "string" ? parameters : new URLSearchParams(parameters).toString();
  const url = `${server.url}/iam.v1alpha.MembersService/GetMember?${query}`;
  const response = await fetch(url, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

function escaped(bytes: Buffer): string {
  return [...bytes].map((byte) => `%${Buffer.of(byte).toString("hex")}`).join("");
}

const authorization = () => ({ authorization: `Bearer ${server.operatorKey}` });

test.each<[what: string, parameters: Record<string, string> | string]>([
  ["JSON", { connect: "v1", encoding: "json", message: json }],
  ["JSON without the version", { encoding: "json", message: json }],
  ["base64", { encoding: "json", base64: "1", message: Buffer.from(json).toString("base64url") }],
  ["base64 that is not", { encoding: "json", base64: "0", message: json }],
  ["gzip", { encoding: "json", base64: "1", compression: "gzip", message: gzipSync(json).toString("base64url") }],
  ["gzip that is escaped, not in base64", `encoding=json&compression=gzip&message=${escaped(gzipSync(json))}`],
])("reads the message from %s", async (_what, parameters) => {
  expect(await get(parameters)).toMatchObject({
    status: 200,
    body: { path: expect.stringContaining("alice") as string },
  });
});

test.each([json, "{"])("no cache may answer for the service: %s", async (message) => {
  const query = new URLSearchParams({ encoding: "json", message });
  const url = `${server.url}/iam.v1alpha.MembersService/GetMember?${query.toString()}`;
  const { headers } = await fetch(url, { headers: authorization() });
  expect([headers.get("cache-control"), headers.get("vary")]).toEqual(["private, no-cache", "accept-encoding"]);
});

test("answers in the encoding of the message", async () => {
  const query = new URLSearchParams({ encoding: "proto", base64: "1", message: binary.toString("base64") });
  const url = `${server.url}/iam.v1alpha.MembersService/GetMember?${query.toString()}`;
  const response = await fetch(url, { headers: authorization() });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/proto"]);
});

describe("names the parameter that is wrong:", () => {
  test.each<[parameters: Record<string, string> | string, code: string, message: string, field?: string]>([
    [{}, "invalid_argument", "encoding must be json or proto, got none", "encoding"],
    [{ encoding: "xml", message: "" }, "invalid_argument", 'encoding must be json or proto, got "xml"', "encoding"],
    [{ encoding: "json" }, "invalid_argument", "message must be set", "message"],
    [{ encoding: "json", message: json, connect: "v2" }, "invalid_argument", 'connect must be v1, got "v2"', "connect"],
    [{ encoding: "json", base64: "1", message: "{}" }, "invalid_argument", "message must be in base64", "message"],
    [
      { encoding: "json", base64: "yes", message: "" },
      "invalid_argument",
      'base64 must be 0 or 1, got "yes"',
      "base64",
    ],
    [{ encoding: "json", message: "{" }, "invalid_argument", "JSON"],
    [
      { encoding: "json", message: json, compression: "zip" },
      "unimplemented",
      'compression must be one of gzip,br, or none, got "zip"',
      "compression",
    ],
    // Half a character is not shown.
    [
      { encoding: "json", message: json, compression: `a${"😀".repeat(60)}` },
      "unimplemented",
      String.raw`😀\ud83d..."`,
      "compression",
    ],
    ["encoding=json&encoding=proto", "invalid_argument", "encoding must be given once, got several", "encoding"],
    ["encoding=json&message=%7", "invalid_argument", "message must have two hexadecimal digits", "message"],
    ["encoding=json&message=%7B%22path%22:%22%ff%22%7D", "invalid_argument", "not UTF-8"],
  ])("%j", async (parameters, code, message, field) => {
    const { body } = await get(parameters);
    expect(body).toMatchObject({ code, message: expect.stringContaining(message) as string });
    const details = body["details"] as readonly { readonly debug: Record<string, unknown> }[];
    const [info, second] = details.map(({ debug }) => debug);
    expect(info).toMatchObject({ reason: expect.any(String) as string, domain: "iam.tenantry.dev" });
    if (field !== undefined) expect(second).toMatchObject({ fieldViolations: [{ field }] });
    expect(details.at(-1)?.debug).toEqual({ requestId: expect.any(String) as string });
  });
});

test("a caller is known before the message is read", async () => {
  expect(await get({ encoding: "json", message: "{" }, {})).toMatchObject({
    status: 401,
    body: { code: "unauthenticated" },
  });
});

test("a compressed message may not become longer than a body", async () => {
  const long = gzipSync(JSON.stringify({ path: "a".repeat(10_000_000) })).toString("base64url");
  const { status } = await get({ encoding: "json", base64: "1", compression: "gzip", message: long });
  expect(status).toBe(429);
});
