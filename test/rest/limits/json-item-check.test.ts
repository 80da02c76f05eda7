import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { compileJsonItemCheck } from "../../../src/rest/limits/json-item-check.ts";
import { type ItemLimit, maxUncheckedLength } from "../../../src/rest/limits/item-limit.ts";
import { outcomeOf } from "../json/outcome.ts";
import { BookSchema } from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import { ParametersSchema } from "../gen/rest/test/v1/parameters_pb.ts";

const limitsOf =
  (names: readonly string[]) =>
  ({ name }: DescField): ItemLimit | undefined =>
    names.includes(name) ? { max: 2, description: "must have two", rule: "two" } : undefined;

const padding = " ".repeat(maxUncheckedLength);

/** Returns the field that is refused; undefined if none is. */
function refused(desc: DescMessage, names: readonly string[], json: string, field?: string): string | undefined {
  return refusedIn(Buffer.from(padding + json), desc, names, field);
}

function refusedIn(bytes: Buffer, desc: DescMessage, names: readonly string[], field?: string): string | undefined {
  const root = field === undefined ? undefined : desc.fields.find(({ name }) => name === field);
  const check = compileJsonItemCheck(desc, root, limitsOf(names), 100);
  try {
    check(bytes);
  } catch (error) {
    expect(error).toMatchObject({
      reason: "FIELD_INVALID",
      violations: [{ description: "must have two", rule: "two" }],
    });
    return (error as { violations: readonly { field: string }[] }).violations[0]?.field;
  }
  return undefined;
}

const names = ["editions", "labels", "enum_list", "recursive_list", "self_map"];

test.each<[what: string, desc: DescMessage, json: string, field: string | undefined, root?: string]>([
  ["a list at its limit", BookSchema, '{"editions":[{},{}]}', undefined],
  ["a list beyond it", BookSchema, '{"editions":[{},{},{}]}', "editions"],
  ["a map at its limit", BookSchema, '{"labels":{"a":"1,2,3","b":"{"}}', undefined],
  ["a map beyond it", BookSchema, '{"labels":{"a":"","b":"","c":""}}', "labels"],
  ["a list by its JSON name", ParametersSchema, '{"enumList":[1,1,1]}', "enum_list"],
  ["a list by its proto name", ParametersSchema, '{"enum_list":[1,1,1]}', "enum_list"],
  ["a list whose key has escapes", BookSchema, '{"\\u0065ditions" :\n[{},{},{}]}', "editions"],
  ["a list without a limit", ParametersSchema, '{"double_list":[1,1,1]}', undefined],
  [
    "items with commas, quotes and brackets",
    BookSchema,
    '{"editions":[{"text":"\\",[,,"},{"text":"],,\\\\"}]}',
    undefined,
  ],
  [
    "a list in an item",
    ParametersSchema,
    '{"recursive_list":[{"name":[]},{"enum_list":[0,0,0]}]}',
    "recursive_list[1].enum_list",
  ],
  [
    "a list in a value of a map",
    OddFieldsSchema,
    '{"self_map":{"a":{},"b\\n":{"self_map":{"a":{},"b":{},"c":{}}}}}',
    'self_map["b\\n"].self_map',
  ],
  [
    "a list in a message in a message",
    ParametersSchema,
    '{"recursive":{"recursive":{"enum_list":[0,0,0]}}}',
    "recursive.recursive.enum_list",
  ],
  ["the JSON of one field", BookSchema, "[{},{},{}]", "editions", "editions"],
  [
    "the JSON of a field that is a message",
    ParametersSchema,
    '{"enum_list":[0,0,0]}',
    "recursive.enum_list",
    "recursive",
  ],
  ["a list of the same name in a Struct", OddFieldsSchema, '{"structs":[{"labels":{"a":1,"b":2,"c":3}}]}', undefined],
  ["a list of an unknown field", BookSchema, '{"unknown":[1,2,3],"x":{"labels":{"a":1,"b":2,"c":3}}}', undefined],
  ["an array where a map is expected", BookSchema, '{"labels":[1,2,3]}', undefined],
  ["an object where a list is expected", BookSchema, '{"editions":{"a":1,"b":2,"c":3}}', undefined],
  ["a text", BookSchema, '{"editions":"[,,,]"}', undefined],
  ["what is nested too deep", ParametersSchema, `${'{"recursive":'.repeat(100)}{"enum_list":[0,0,0]`, undefined],
  ["what ends in a string", BookSchema, '{"editions":["', undefined],
  ["what is no JSON", BookSchema, "]}:,{{[[", undefined],
])("finds what is too long in %s", (_what, desc, json, field, root) => {
  expect(refused(desc, names, json, root)).toBe(field);
});

test("looks at no text of 16 kB or less", () => {
  const check = compileJsonItemCheck(BookSchema, undefined, limitsOf(["editions"]), 100);
  const json = '{"editions":[{},{},{}]}';
  expect(outcomeOf(() => check(Buffer.from(json.padEnd(maxUncheckedLength))))).not.toBe("thrown");
  expect(outcomeOf(() => check(Buffer.from(json.padEnd(maxUncheckedLength + 1))))).toBe("thrown");
});

/** Returns the bytes of a text, which count how often one of them is read. Parts of them are not counted. */
function countReads(text: string): { bytes: Buffer; reads: () => number } {
  let reads = 0;
  const bytes = new Proxy(Buffer.from(text), {
    get(target, key) {
      if (typeof key === "string" && /^\d/.test(key)) reads++;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { bytes, reads: () => reads };
}

test.each([
  ["brackets", `{"${"k".repeat(5_000)}":${"[]".repeat(5_000)}`],
  ["colons and brackets", `{"${"k".repeat(5_000)}"${":[]".repeat(5_000)}`],
])("reads text with a long key and many %s, which is no JSON, at most twice", (_what, json) => {
  const { bytes, reads } = countReads(padding + json);
  expect(refusedIn(bytes, BookSchema, names)).toBeUndefined();
  expect(reads()).toBeLessThan(2 * bytes.length);
});

test("ends at the first item too many", () => {
  const entries = Array.from({ length: 10_000 }, (_, index) => `"k${index}":""`);
  const { bytes, reads } = countReads(`${padding}{"labels":{${entries.join()}}}`);
  expect(refusedIn(bytes, BookSchema, ["labels"])).toBe("labels");
  expect(reads()).toBeLessThan(padding.length + 100);
});
