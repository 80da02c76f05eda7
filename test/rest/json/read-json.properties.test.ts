import { type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import {
  AnySchema,
  DurationSchema,
  FloatValueSchema,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  UInt64ValueSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { locateJsonErrors } from "../../../src/rest/binding/locate-json-errors.ts";
import { createJsonReaders } from "../../../src/rest/json/read-json.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import { arbitraryJson, odd, time } from "./arbitrary-json.ts";
import { findReadDifferences } from "./intended-differences.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { outcomeOf } from "./outcome.ts";

const descs: readonly DescMessage[] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  parameters.HelloRequestSchema,
  parameters.CrossedNamesSchema,
  Proto2MessageSchema,
  library.BookSchema,
  library.MaskedSchema,
  library.UploadRequestSchema,
  library.WovenSchema,
  AnySchema,
  DurationSchema,
  FloatValueSchema,
  ListValueSchema,
  StructSchema,
  UInt64ValueSchema,
  ValueSchema,
];
const run = fuzzParameters(100);
vi.setConfig({ testTimeout: fuzzTimeout(run) });

/**
 * Compares the reader with protobuf-es: the same message, or both throw, or a difference that is intended. Returns which of
 * these happened.
 */
function compare(desc: DescMessage, json: JsonValue, ignoreUnknownFields: boolean): "read" | "thrown" | "differed" {
  const options = { ignoreUnknownFields, recursionLimit: Number.MAX_SAFE_INTEGER };
  const expected = outcomeOf(() => fromJson(desc, json, options));
  const got = outcomeOf(() => createJsonReaders({ ignoreUnknownFields }).message(desc)(json));
  // The matcher of the test runner prints differences well, but is slow.
  if (!isDeepStrictEqual(got, expected)) {
    const here = got === "thrown" ? "refused" : "read";
    if (findReadDifferences(desc, json).some((difference) => difference.here === here)) return "differed";
    expect(got).toStrictEqual(expected);
    expect.unreachable("the messages differ, but the matcher finds them equal");
  }
  return expected === "thrown" ? "thrown" : "read";
}

test.each(
  descs.flatMap((desc) => [false, true].map((ignoreUnknownFields) => ({ name: desc.name, desc, ignoreUnknownFields }))),
)("agrees with protobuf-es: $name, ignoreUnknownFields: $ignoreUnknownFields", ({ desc, ignoreUnknownFields }) => {
  const seen = { read: 0, thrown: 0, differed: 0 };
  fc.assert(
    fc.property(fc.oneof(...[0, 2, 10].map((broken) => arbitraryJson(desc, { depth: 2, broken }))), (json) => {
      seen[compare(desc, json, ignoreUnknownFields)]++;
    }),
    run,
  );
  expect(seen.read).toBeGreaterThan(run.numRuns / 8);
});

/** Reports whether `Date` rolls the time over to another day. */
function isMovedByDate(text: string): boolean {
  const day = text.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && (date.toISOString().slice(0, 10) !== day || text.slice(11, 13) === "24");
}

test("agrees with protobuf-es on timestamps, but rejects those that it rolls over to another day", () => {
  const seen = { read: 0, thrown: 0, differed: 0 };
  fc.assert(
    fc.property(time, (text) => {
      if (isMovedByDate(text)) {
        expect(outcomeOf(() => createJsonReaders({ ignoreUnknownFields: false }).message(TimestampSchema)(text))).toBe(
          "thrown",
        );
        seen.thrown++;
      } else seen[compare(TimestampSchema, text, false)]++;
    }),
    { ...run, numRuns: run.numRuns * 10 },
  );
  expect(Math.min(seen.read, seen.thrown)).toBeGreaterThan(run.numRuns / 10);
});

test.each(["1s ago", "1ss", "1.5s\n", "-1s2s"])(
  "refuses the duration %j, of which protobuf-es ignores the end",
  (text) => {
    expect(() => fromJson(DurationSchema, text)).not.toThrow();
    expect(outcomeOf(() => createJsonReaders({ ignoreUnknownFields: false }).message(DurationSchema)(text))).toBe(
      "thrown",
    );
  },
);

test.each<[string, JsonValue]>([
  ["a list", { times: ["2028-02-29T00:00:00Z", "2027-02-29T00:00:00Z"] }],
  ["a map with keys that are not strings", { durations: { true: "1s", false: "1s ago" } }],
  ["a message in a map", { self_map: { a: { times: ["2027-02-29T00:00:00Z"] } } }],
])("refuses a time or duration in %s that protobuf-es reads as another one", (_what, json) => {
  expect(() => fromJson(OddFieldsSchema, json)).not.toThrow();
  expect(outcomeOf(() => createJsonReaders({ ignoreUnknownFields: false }).message(OddFieldsSchema)(json))).toBe(
    "thrown",
  );
});

test.each(descs.slice(0, 9).map((desc) => ({ name: desc.name, desc })))(
  "accepts the same JSON forms of each field as protobuf-es: $name",
  ({ desc }) => {
    const names = desc.fields.flatMap((field) => [field.name, field.jsonName]);
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        odd,
        fc.constantFrom("bare", "list", "map"),
        fc.boolean(),
        (name, json, where, ignoreUnknownFields) => {
          const value: JsonValue = where === "bare" ? json : where === "list" ? [json] : { a: json };
          compare(desc, { [name]: value }, ignoreUnknownFields);
        },
      ),
      { ...run, numRuns: run.numRuns * 3 },
    );
  },
);

const oneofs: readonly JsonValue[] = [
  { oneof_bool_value: null, oneof_string_value: "a" },
  { oneof_bool_value: null, oneof_string_value: null },
  { oneof_bool_value: true, oneof_string_value: null },
  { nested_oneof_int32_value: null, nested_oneof_value_one: {} },
  { nested_oneof_int32_value: 1, nested_oneof_value_one: null },
  { nested_oneof_value_one: null, nested_oneof_int32_value: 1 },
  { nested_oneof_value_one: null },
  { nested_oneof_value_one: {}, nestedOneofValueOne: null },
];

test.each(oneofs.map((json) => ({ text: JSON.stringify(json), json })))("reads the oneofs of $text", ({ json }) => {
  compare(parameters.Proto3MessageSchema, json, false);
});

test("creates new lists, maps and oneofs for each message", () => {
  const read = createJsonReaders({ ignoreUnknownFields: false }).message(parameters.Proto3MessageSchema);
  const [one, other] = [read({}), read({})] as unknown as Record<string, unknown>[];
  for (const field of ["repeatedValue", "mapValue", "oneofValue"]) expect(one?.[field]).not.toBe(other?.[field]);
});

test("treats __proto__ as an ordinary key", () => {
  const json = JSON.parse('{"map_value":{"__proto__":"a"},"struct_value":{"__proto__":{"b":1}}}') as JsonValue;
  expect(compare(parameters.Proto3MessageSchema, json, false)).toBe("read");
  expect(compare(parameters.Proto3MessageSchema, JSON.parse('{"__proto__":{}}') as JsonValue, false)).toBe("thrown");
  expect(compare(parameters.Proto3MessageSchema, JSON.parse('{"__proto__":{}}') as JsonValue, true)).toBe("read");
  expect(Object.prototype).not.toHaveProperty("b");
});

test("reads messages nested deeper than the default limit of protobuf-es", () => {
  let json: JsonValue = {};
  for (let depth = 0; depth < 500; depth++) json = { nested: json };
  expect(compare(parameters.Proto3MessageSchema, json, false)).toBe("read");
});

test.each([...descs.slice(0, 9), OddFieldsSchema].map((desc) => ({ name: desc.name, desc })))(
  "names a field for everything that it refuses: $name",
  ({ desc }) => {
    const readers = createJsonReaders({ ignoreUnknownFields: false });
    const key = fc.constantFrom(...desc.fields.flatMap((field) => [field.name, field.jsonName]));
    const value = fc.oneof(
      odd,
      odd.map((json) => [json]),
      odd.map((json) => ({ a: json })),
    );
    fc.assert(
      fc.property(fc.oneof(arbitraryJson(desc, { depth: 2, broken: 10 }), fc.dictionary(key, value)), (json) => {
        if (outcomeOf(() => readers.message(desc)(json)) !== "thrown") return;
        expect(locateJsonErrors(desc, json, readers)).not.toEqual([]);
      }),
      { ...run, numRuns: run.numRuns * 3 },
    );
  },
);
