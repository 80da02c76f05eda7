// The deprecation of methods over REST, Connect and gRPC, on one port as the service has it.
import { once } from "node:events";
import { clearExtension, create, setExtension, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Client, type Metadata, credentials, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeprecationSchema, deprecation } from "../../gen/iam/v1alpha/deprecation_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/http-messages.ts";
import { markDeprecatedRpcs } from "../../src/rest/mark-deprecated-rpcs.ts";
import { describeOpenApi } from "../../src/rest/openapi/describe-openapi.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { readDeprecation } from "../../src/rpc/read-deprecation.ts";
import { type StartedListener, startListener } from "../http/start-listener.ts";
import { startTestServer } from "../support/test-server.ts";
import { GetWordRequestSchema, WordsService } from "./gen/rest/test/v1/retired_pb.ts";

/** What the proto declares for FindWord. */
const found = {
  deprecation: "@1769817600",
  sunset: "Wed, 30 Jun 2027 00:00:00 GMT",
  link: '<https://words.example.com/changes>; rel="deprecation", <https://words.example.com/changes>; rel="sunset"',
};
const watched = { deprecation: "@1769817600", sunset: undefined, link: '</docs/versions>; rel="deprecation"' };
const none = { deprecation: undefined, sunset: undefined, link: undefined };

function getWord({ name }: { readonly name: string }) {
  if (name === "missing") throw new ConnectError("there is no such word", Code.NotFound);
  return { name };
}

const routes = (router: ConnectRouter) =>
  router.service(WordsService, {
    getWord,
    findWord: getWord,
    async *watchWords(request) {
      yield getWord(request);
    },
  });

let server: StartedListener;
beforeAll(async () => {
  const rest = createRestHandler({ routes, deprecationOf: readDeprecation });
  const rpc = connectNodeAdapter({ routes, jsonOptions: { ignoreUnknownFields: false } });
  const mark = markDeprecatedRpcs([WordsService], readDeprecation);
  server = await startListener((request: HttpRequest, response: HttpResponse) => {
    if (request.url?.startsWith("/v1/") === true) return rest(request, response);
    mark(request, response);
    return rpc(request, response);
  });
});
afterAll(() => server[Symbol.asyncDispose]());

async function headersOf(path: string, init: RequestInit = {}, url = server.url) {
  const response = await fetch(url + path, init);
  await response.text();
  const header = (name: string) => response.headers.get(name) ?? undefined;
  const headers = { deprecation: header("deprecation"), sunset: header("sunset"), link: header("link") };
  return { status: response.status, headers };
}

const json = { "content-type": "application/json" };
const post = (body: string, headers = json) => ({ method: "POST", headers, body });

describe("the headers of a deprecated method", () => {
  test.each([
    ["REST", "/v1/words:find?name=a", {}, 200, found],
    ["REST, an error of the method", "/v1/words:find?name=missing", {}, 404, found],
    ["REST, an error before the method", "/v1/words:find?nam=a", {}, 400, found],
    ["REST, a response that is not acceptable", "/v1/words:find", { headers: { accept: "text/csv" } }, 406, found],
    ["REST, a stream without a sunset", "/v1/words:watch?name=a", {}, 200, watched],
    ["REST, a method that is not deprecated", "/v1/words/a", {}, 200, none],
    ["REST, no method", "/v1/nothing", {}, 404, none],
    ["Connect", "/rest.test.v1.WordsService/FindWord", post('{"name": "a"}'), 200, found],
    ["Connect, an error of the method", "/rest.test.v1.WordsService/FindWord", post('{"name": "missing"}'), 404, found],
    ["Connect, an unknown field", "/rest.test.v1.WordsService/FindWord", post('{"nam": "a"}'), 400, found],
    [
      "Connect, an unknown content type",
      "/rest.test.v1.WordsService/FindWord",
      post("a", { "content-type": "text/csv" }),
      415,
      found,
    ],
    [
      "Connect, a method that is not deprecated",
      "/rest.test.v1.WordsService/GetWord",
      post('{"name": "a"}'),
      200,
      none,
    ],
  ] as const)("%s", async (_name, path, init, status, headers) => {
    expect(await headersOf(path, init)).toEqual({ status, headers });
  });

  test.each([
    ["FindWord", "a", found],
    ["FindWord", "missing", found],
    ["GetWord", "a", none],
  ])("gRPC, %s of %s", async (method, name, headers) => {
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const message = create(GetWordRequestSchema, { name });
    const call = client.makeUnaryRequest(
      `/rest.test.v1.WordsService/${method}`,
      (request: typeof message) => Buffer.from(toBinary(GetWordRequestSchema, request)),
      (bytes: Buffer) => bytes,
      message,
      (_error: ServiceError | null) => {},
    );
    const [metadata] = (await once(call, "metadata")) as [Metadata];
    client.close();
    const value = (key: string) => metadata.get(key).map(String)[0];
    const sent = { deprecation: value("deprecation"), sunset: value("sunset"), link: value("link") };
    expect(sent).toEqual(headers);
  });
});

test("the service sends them for its own methods, also to callers without credentials", async () => {
  // No method of the service is deprecated now, so one is for this test.
  const method = MembersService.method.getMember;
  const { options } = method.proto;
  if (options === undefined) throw new Error("the method has no options");
  Object.assign(method, { deprecated: true });
  setExtension(options, deprecation, create(DeprecationSchema, { since: "2026-01-31", sunset: "2027-06-30" }));
  const service = await startTestServer();
  try {
    const link = '</docs/versions>; rel="deprecation", </docs/versions>; rel="sunset"';
    const authorization = `Bearer ${service.operatorKey}`;
    const rest = "/iam/v1alpha/orgs/system/members/operator";
    const rpc = "/iam.v1alpha.MembersService/GetMember";
    const body = '{"path": "orgs/system/members/operator"}';
    const calls: (readonly [string, RequestInit, number])[] = [
      [rest, { headers: { authorization } }, 200],
      [rest, {}, 401],
      [rpc, { ...post(body), headers: { ...json, authorization } }, 200],
      [rpc, post(body), 401],
    ];
    for (const [path, init, status] of calls) {
      expect([path, await headersOf(path, init, service.url)]).toEqual([path, { status, headers: { ...found, link } }]);
    }
  } finally {
    await service.close();
    clearExtension(options, deprecation);
    Object.assign(method, { deprecated: false });
  }
});

test("OpenAPI says that the method is deprecated, since when, and what to use", () => {
  const { paths } = describeOpenApi({
    info: { title: "Words", version: "1", license: { name: "MIT", identifier: "MIT" } },
    servers: [],
    services: [{ service: WordsService, tag: "Words" }],
    securitySchemes: {},
    security: [],
    errorDomain: "words.example.com",
    errorDetails: [],
    errors: [],
    deprecationOf: readDeprecation,
  });
  const { get } = paths["/v1/words:find"] as { get: Record<string, unknown> };
  const day = "2027-06-30";
  expect(get).toMatchObject({ deprecated: true, "x-sunset": day });
  expect(get["description"]).toContain(
    `**Deprecated** since 2026-01-31; it may be gone from ${day}. Use \`rest.test.v1.WordsService/GetWord\` instead. ` +
      "[More](https://words.example.com/changes).",
  );
  expect(get["responses"]).toMatchObject({
    200: {
      headers: {
        Deprecation: { example: found.deprecation },
        Sunset: { example: found.sunset },
        Link: { example: found.link },
      },
    },
  });
  const { get: current } = paths["/v1/words/{name}"] as { get: Record<string, unknown> };
  expect([current["deprecated"], JSON.stringify(current).includes("Sunset")]).toEqual([undefined, false]);
});
