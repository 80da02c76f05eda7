import { create, equals, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { compileRequestBinding, type RequestBinding } from "../../../src/rest/binding/request-binding.ts";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { type OddFields, OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import { type HelloRequest, HelloRequestSchema } from "../gen/rest/test/v1/parameters_pb.ts";

// Bugs that the fuzz tests found, each as a minimal request.

function compile(desc: Parameters<typeof compileRequestBinding>[0], path: string, body: string): RequestBinding {
  const rule = { httpMethod: "POST", path, body, responseBody: "", name: path };
  return compileRequestBinding(desc, rule, parsePathTemplate(path), { ignoreUnknownFields: false, maxDepth: 100 });
}

describe("a field whose proto name is the JSON name of another field", () => {
  test("receives the body", () => {
    const binding = compile(HelloRequestSchema, "/v1", "field_name");
    const bytes = Buffer.from('"x"');
    const message = binding.bind({ pathValues: [], query: "", body: bytes, contentType: undefined }) as HelloRequest;
    expect([message.fieldName, message.hidingFieldName]).toEqual(["x", ""]);
  });

  test("is unset when the body sets the other field", () => {
    const binding = compile(HelloRequestSchema, "/v1/{field_name}", "*");
    const bytes = Buffer.from('{"field_name":"hiding"}');
    const message = binding.bind({ pathValues: ["x"], query: "", body: bytes, contentType: undefined }) as HelloRequest;
    expect([message.fieldName, message.hidingFieldName]).toEqual(["x", "hiding"]);
  });
});

test("represents Structs in lists and maps as generated code does", () => {
  const query = 'structs={"a":1}&struct_map[k]={"b":2}&struct_map[__proto__]={}';
  const binding = compile(OddFieldsSchema, "/v1", "");
  const message = binding.bind({ pathValues: [], query, body: undefined, contentType: undefined }) as OddFields;
  expect(message.structs).toEqual([{ a: 1 }]);
  expect(Object.entries(message.structMap)).toEqual([
    ["k", { b: 2 }],
    ["__proto__", {}],
  ]);
  expect(() => toBinary(OddFieldsSchema, message)).not.toThrow();
  expect(equals(OddFieldsSchema, message, create(OddFieldsSchema, message))).toBe(true);
});
