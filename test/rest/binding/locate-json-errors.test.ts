import type { JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { locateJsonErrors } from "../../../src/rest/binding/locate-json-errors.ts";
import { createJsonReaders } from "../../../src/rest/json/read-json.ts";
import { Proto3MessageSchema } from "../gen/rest/test/v1/parameters_pb.ts";

const readers = createJsonReaders({ ignoreUnknownFields: false });

test.each<[string, JsonValue, string[]]>([
  ["a value that is not an object", 1, [""]],
  ["a nested field", { nested: { nested: { int32Value: "x" } } }, ["nested.nested.int32_value"]],
  ["items of a list", { repeated_value: ["a", 1, "b", null] }, ["repeated_value[1]", "repeated_value[3]"]],
  ["items of a list of wrappers", { repeatedMessage: ["1", "x"] }, ["repeated_message[1]"]],
  ["a value that is not a list", { repeated_value: "a" }, ["repeated_value"]],
  ["values of a map", { map_value2: { a: 1, b: "x" } }, ['map_value2["b"]']],
  ["keys of a map", { map_value3: { x: "a" } }, ['map_value3["x"]']],
  ["map keys that are the same number", { map_value3: { "1": "a", "01": "b" } }, ["map_value3"]],
  ["an integer with too many digits", { int64_value: "9".repeat(4_000_000) }, ["int64_value"]],
  ["an integer key with too many digits", { map_value5: { ["9".repeat(4_000_000)]: "a" } }, ['map_value5["999']],
  ["a wrapped integer with too many digits", { repeated_message: ["9".repeat(4_000_000)] }, ["repeated_message[0]"]],
  ["a field given twice", { mapValue: {}, map_value: {} }, ["map_value"]],
  ["two members of a oneof", { oneof_bool_value: true, oneof_string_value: "a" }, ["oneof_string_value"]],
  ["an unknown enum value", { enum_value: "W", repeated_enum: ["X", "W"] }, ["enum_value", "repeated_enum[1]"]],
  [
    "well-known types",
    { timestamp_value: 1, duration_value: "1", fieldmask_value: "a_b" },
    ["timestamp_value", "duration_value", "fieldmask_value"],
  ],
  ["a day that does not exist", { timestamp_value: "2027-02-30T00:00:00Z" }, ["timestamp_value"]],
  ["text after the unit of a duration", { duration_value: "1s ago" }, ["duration_value"]],
  ["unknown fields", { nested: { nope: 1 }, constructor: 1 }, ["nested.nope", "constructor"]],
  ["no field when null stands for the default", { nested: null, int32_value: null, map_value: null }, []],
])("names %s", (_what, json, fields) => {
  const named = locateJsonErrors(Proto3MessageSchema, json, readers).map((violation) => violation.field);
  expect(named).toEqual(fields.map((field) => expect.stringContaining(field) as string));
});

test("does not report a deeply nested value because of an error in another field", () => {
  let deep: JsonValue = {};
  for (let depth = 0; depth < 150; depth++) deep = { a: deep };
  const violations = locateJsonErrors(Proto3MessageSchema, { struct_value: deep, nope: 1 }, readers);
  expect(violations.map((violation) => violation.field)).toEqual(["nope"]);
});

test("describes the error in a map key", () => {
  expect(locateJsonErrors(Proto3MessageSchema, { map_value5: { x: "a" } }, readers)).toEqual([
    { field: 'map_value5["x"]', description: expect.stringContaining("must have a key that is a whole number") },
  ]);
});

test("locates an error in a large, deeply nested value in linear time", () => {
  let json: JsonValue = { repeated_value: Array.from({ length: 200_000 }, () => "x"), int32_value: "x" };
  for (let depth = 0; depth < 90; depth++) json = { nested: json };
  // Work proportional to size times depth would exceed the timeout.
  expect(locateJsonErrors(Proto3MessageSchema, json, readers)).toHaveLength(1);
});
