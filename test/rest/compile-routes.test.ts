import { create, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { type HttpRule, HttpRuleSchema } from "../../gen/google/api/http_pb.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { readHttpRules } from "../../src/rest/routing/http-rules.ts";
import { listenHttp1, listenHttp2 } from "./support/listen.ts";
import * as library from "./gen/rest/test/v1/library_pb.ts";

const cases: [string, DescService, string][] = [
  [
    "a bidirectional streaming method",
    library.ChatService,
    "rest.test.v1.ChatService/Chat (POST /v1/books:chat): HTTP/1.1 responds only after a request has ended",
  ],
  ["a variable that is not a field", library.MisboundService, "has no field missing"],
  ["a message in the path", library.MessageInPathService, "path variable book must be a scalar or an enum"],
  ["a repeated field in the path", library.RepeatedInPathService, "path variable books must be a scalar or an enum"],
  ["a body that is not a field", library.UnknownBodyService, "body names missing"],
  ["a response body that is not a field", library.UnknownResponseBodyService, "response_body names missing"],
  ["an invalid template", library.BadTemplateService, 'column 10: expected "}", got the end'],
  ["two rules for the same paths", library.ConflictService, "ConflictService/GetOneBook match the same paths"],
];

test.each(["", "CONNECT", "A B", "GÄT", "GET,POST"])("throws for the custom HTTP method %j", (kind) => {
  const rule = create(HttpRuleSchema, { pattern: { case: "custom", value: { kind, path: "/v1/books" } } });
  expect(() => readHttpRules(withRule(rule))).toThrow(/custom pattern for|no request for/);
});

test.each(["*", "MOVE", "FEED", "x-feed"])("reads the custom HTTP method %s", (kind) => {
  const rule = create(HttpRuleSchema, { pattern: { case: "custom", value: { kind, path: "/v1/books" } } });
  expect(readHttpRules(withRule(rule))).toMatchObject([{ httpMethod: kind }]);
});

test("a custom HTTP method that Node's parser does not know comes over HTTP/2 alone", async () => {
  const rule = create(HttpRuleSchema, { pattern: { case: "custom", value: { kind: "FEED", path: "/v1/books" } } });
  const routes = (router: ConnectRouter): void => void router.rpc(withRule(rule), () => ({}));
  const request = { method: "FEED", path: "/v1/books" };
  expect((await (await listenHttp2({ routes })).call(request)).status).toBe(200);
  expect((await (await listenHttp1({ routes })).call(request)).status).toBe(400);
});

/** Returns a method with a rule that no file declares. */
function withRule(rule: HttpRule) {
  const method = library.LibraryService.method.getBook;
  const options = create(MethodOptionsSchema);
  setExtension(options, http, rule);
  return { ...method, toString: () => method.toString(), proto: { ...method.proto, options } };
}

test.each(cases)("throws for %s", (_case, service, message) => {
  expect(() => createRestHandler({ routes: (router) => router.service(service, {}) })).toThrow(message);
});
