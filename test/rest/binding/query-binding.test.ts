import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { compileQueryBinding } from "../../../src/rest/binding/query-binding.ts";
import type { FieldViolation } from "../../../src/rest/errors/rest-error.ts";
import {
  type Parameters,
  ParametersSchema,
  type Proto3Message,
  Proto3MessageSchema,
} from "../gen/rest/test/v1/parameters_pb.ts";

const options = { ignoreUnknownFields: false, maxDepth: 10 };

function bind(query: string, body = ""): { message: Proto3Message; violations: FieldViolation[] } {
  const message = create(Proto3MessageSchema);
  const violations: FieldViolation[] = [];
  compileQueryBinding(Proto3MessageSchema, body, [], options).bind(message, query, [], violations);
  return { message, violations };
}

describe("a query", () => {
  test("sets map entries, including keys such as __proto__", () => {
    const { message, violations } = bind("map_value[__proto__]=x&mapValue[constructor]=y&map_value3[-2]=z");
    expect(violations).toEqual([]);
    expect(Object.entries(message.mapValue)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(message.mapValue3).toEqual({ "-2": "z" });
    expect({}).not.toHaveProperty("x");
  });

  test("takes field masks in proto names and in JSON names", () => {
    expect(bind("fieldmask_value=a_b,cD.eF").message.fieldmaskValue?.paths).toEqual(["a_b", "c_d.e_f"]);
  });

  test.each([
    ["labels.cost-centre", ["labels.cost-centre"]],
    ["labels.%60cost.centre,x_Y%60,displayName", ["labels.`cost.centre,x_Y`", "display_name"]],
    ["labels.a/b", ["labels.a/b"]],
    ["labels.%60a%60%60b%60", ["labels.`a``b`"]],
    ["*", ["*"]],
    ["", []],
  ])("keeps keys of maps in a field mask: %s", (text, paths) => {
    expect(bind(`fieldmask_value=${text}`).message.fieldmaskValue?.paths).toEqual(paths);
  });

  test.each([
    "a.",
    "a..b",
    ".a",
    "a.%00",
    "a%20b",
    "a[0]",
    "a.b%20c",
    "a_B",
    "a.%60b",
    "a.%60b%60c",
    "%60a%60",
    "*.a",
    "a.é",
  ])("a field mask is no list of paths: %s", (text) => {
    expect(bind(`fieldmask_value=${text}`).violations).toMatchObject([{ field: "fieldmask_value" }]);
  });

  test.each([
    ["int32_value=0x10", "int32_value"],
    ["int32_value=1e3", "int32_value"],
    ["int32_value=", "int32_value"],
    ["uint64_value=-1", "uint64_value"],
    ["double_value=1e999", "double_value"],
    ["bool_value=1", "bool_value"],
    ["bytes_value=!", "bytes_value"],
    ["enum_value=x", "enum_value"],
    ["enum_value=99999999999", "enum_value"],
    ["duration_value=1sx", "duration_value"],
    ["fieldmask_value=a,,b", "fieldmask_value"],
    ["map_value=1", "map_value"],
    ["map_value3[x]=1", "map_value3"],
    ["string_value[x]=1", "string_value[x]"],
    ["nested=1", "nested"],
    ["nested.map_value.key=1", "nested.map_value.key"],
    ["timestamp_value.seconds=1", "timestamp_value.seconds"],
    ["string_value=a&string_value=b", "string_value"],
    ["oneof_bool_value=true&oneof_string_value=a", "oneof_string_value"],
    ["constructor=1", "constructor"],
    ["=1", ""],
    [`${"nested.".repeat(10)}string_value=1`, `${"nested.".repeat(10).slice(0, 60)}...`],
  ])("%s is rejected", (query, field) => {
    expect(bind(query).violations).toEqual([{ field, description: expect.any(String) }]);
  });

  test("cannot set fields of the body", () => {
    expect(bind("nested.string_value=1", "nested").violations).toEqual([
      { field: "nested.string_value", description: "must be given in the body, which is nested" },
    ]);
    expect(bind("string_value=1", "*").violations).toHaveLength(1);
  });

  test("names at most 20 invalid parameters", () => {
    expect(bind(Array.from({ length: 50 }, (_, index) => `x${index}=1`).join("&")).violations).toHaveLength(20);
  });

  test("sets wrappers in lists and 64-bit integers", () => {
    const message: Parameters = create(ParametersSchema);
    compileQueryBinding(ParametersSchema, "", [], options).bind(
      message,
      "doubleValueList=1&double_value_list=2&int64_value=9007199254740993",
      [],
      [],
    );
    expect(message.doubleValueList.map((wrapper) => wrapper.value)).toEqual([1, 2]);
    expect(message.int64Value).toBe(9007199254740993n);
  });
});
