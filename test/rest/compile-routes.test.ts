import type { DescService } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
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

test.each(cases)("throws for %s", (_case, service, message) => {
  expect(() => createRestHandler({ routes: (router) => router.service(service, {}) })).toThrow(message);
});
