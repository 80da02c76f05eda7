import { type DescMessage, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { inferUpdateMask } from "../../../src/rest/binding/infer-update-mask.ts";
import { compileRequestBinding } from "../../../src/rest/binding/request-binding.ts";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { HelloRequestSchema, Proto3MessageSchema } from "../gen/rest/test/v1/parameters_pb.ts";

/** Returns the message as JSON, or the error as text. */
function bind(desc: DescMessage, path: string, pathValues: string[], query: string, body?: object): unknown {
  const rule = { httpMethod: "POST", path, body: body === undefined ? "" : "*", responseBody: "", name: path };
  const binding = compileRequestBinding(desc, rule, parsePathTemplate(path), {
    ignoreUnknownFields: false,
    maxDepth: 100,
  });
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  try {
    const message = binding.bind({ pathValues, query, body: bytes, contentType: undefined });
    return toJson(desc, message, { useProtoFieldName: true });
  } catch (error) {
    return (error as Error).message;
  }
}

test("rejects a path variable if the body sets another member of its oneof", () => {
  const bindOne = (body: object): unknown => bind(Proto3MessageSchema, "/v1/{oneof_string_value}", ["p"], "", body);
  expect(bindOne({ oneof_bool_value: true })).toBe("oneof_string_value: cannot be set together with oneof_bool_value");
  expect(bindOne({ oneof_string_value: "p" })).toEqual({ oneof_string_value: "p" });
  expect(bindOne({ int32_value: 1 })).toEqual({ oneof_string_value: "p", int32_value: 1 });
});

test("rejects a nested path variable if the body sets another member of its oneof", () => {
  const path = "/v1/{nested_oneof_value_one.string_value}";
  const bindInner = (body: object): unknown => bind(Proto3MessageSchema, path, ["p"], "", body);
  expect(bindInner({ nested_oneof_int32_value: 5 })).toContain("cannot be set together with nested_oneof_int32_value");
  expect(bindInner({})).toEqual({ nested_oneof_value_one: { string_value: "p" } });
});

test("rejects base64 with an unencoded +, which decodes to a space", () => {
  expect(bind(Proto3MessageSchema, "/v1", [], "bytes_value=+/+/")).toContain("must be bytes in base64");
  expect(bind(Proto3MessageSchema, "/v1", [], "bytes_value=%2B/%2B/")).toEqual({ bytes_value: "+/+/" });
});

test("infers the mask from the fields that the keys resolve to", () => {
  expect(inferUpdateMask(HelloRequestSchema, { field_name: "v" })).toEqual(["hiding_field_name"]);
});
