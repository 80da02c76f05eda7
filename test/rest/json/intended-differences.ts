// Where the JSON of the transcoder is intended to differ from that of protobuf-es. docs/decisions/0009-json.md says why.
import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { fieldOfKey, findWrapped, hasJsonFormOfItsOwn } from "../../../src/rest/json/json-forms.ts";
import { MaskedSchema } from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import { ParametersSchema, Proto3MessageSchema } from "../gen/rest/test/v1/parameters_pb.ts";

/** A value without fields of its own. */
export interface Leaf {
  /** The name of the scalar type, `key` for the key of a map that is not a string, `list` for what is no list, or the name of the message or enum. */
  readonly type: string;
  readonly json: JsonValue;
}

export interface ReadDifference {
  readonly what: string;
  readonly reason: string;
  /** What the transcoder does with such a value. */
  readonly here: "refused" | "read";
  /** JSON of which this is the only difference. */
  readonly example: readonly [desc: DescMessage, json: string];
  readonly concerns: (leaf: Leaf) => boolean;
}

const longs = new Set(["INT64", "SINT64", "SFIXED64", "UINT64", "FIXED64"]);
const integers = new Set([...longs, "INT32", "SINT32", "SFIXED32", "UINT32", "FIXED32"]);
const numbers = new Set([...integers, "FLOAT", "DOUBLE"]);
const dynamic = new Set(["google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"]);

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$/;

function isMask(type: string, json: JsonValue): json is string {
  return type === "google.protobuf.FieldMask" && typeof json === "string";
}

export const readDifferences: readonly ReadDifference[] = [
  {
    what: "numbers in strings have the grammar of JSON",
    reason:
      'protobuf-es takes "0x10", "+1", "01", ".5" and, for 64 bits, " 1": what JavaScript takes, but no other protojson.',
    here: "refused",
    example: [ParametersSchema, '{"int64_value":"0x10"}'],
    concerns: ({ type, json }) => numbers.has(type) && typeof json === "string" && !jsonNumber.test(json),
  },
  {
    what: "64-bit integers in strings may have a point or an exponent",
    reason: 'protojson takes "1e2" and "1.0" for all integers; protobuf-es does so for 32 bits alone.',
    here: "read",
    example: [ParametersSchema, '{"int64_value":"1e2"}'],
    concerns: ({ type, json }) => longs.has(type) && typeof json === "string" && /[.eE]/.test(json),
  },
  {
    what: "-0 is 0 in a field of integers",
    reason: 'protobuf-es keeps the -0 of "-0", which no integer is.',
    here: "read",
    example: [ParametersSchema, '{"int32_value":"-0"}'],
    concerns: ({ type, json }) => integers.has(type) && typeof json === "string" && Number(json) === 0,
  },
  {
    what: "64-bit integers are read from the text of a number",
    reason: "JSON.parse rounds 9007199254740993 to 9007199254740992.",
    here: "read",
    example: [ParametersSchema, '{"int64_value":9007199254740993}'],
    concerns: ({ type, json }) => longs.has(type) && typeof json === "number" && !Number.isSafeInteger(json),
  },
  {
    what: "the largest float is read from its shortest text",
    reason:
      "3.4028235e38 rounds to the largest float, but its double is larger, which protobuf-es cannot encode in binary.",
    here: "read",
    example: [ParametersSchema, '{"float_value":3.4028235e38}'],
    concerns: ({ type, json }) => type === "FLOAT" && Math.abs(Number(json)) > 3.4028234e38,
  },
  {
    what: "base64 has one alphabet and no white space, and its padding is whole",
    reason: "protobuf-es ignores white space and what is wrong with the padding, and mixes the alphabets.",
    here: "refused",
    example: [ParametersSchema, '{"bytes_value":"YQ= "}'],
    concerns: ({ type, json }) =>
      type === "BYTES" &&
      typeof json === "string" &&
      !base64.test(json) &&
      (/[+/]/.test(json) || !base64.test(json.replaceAll("-", "+").replaceAll("_", "/"))),
  },
  {
    what: "keys that are numbers have one spelling",
    reason: 'protobuf-es takes "01" for "1".',
    here: "refused",
    example: [OddFieldsSchema, '{"string_values":{"01":"a"}}'],
    concerns: ({ type, json }) => type === "key" && typeof json === "string" && !/^-?(0|[1-9]\d*)$/.test(json),
  },
  {
    what: "a Value has finite numbers and Unicode",
    reason: "protobuf-es takes 1e400 and halves of surrogate pairs, which it cannot write, in JSON or in binary.",
    here: "refused",
    example: [OddFieldsSchema, '{"values":["\\ud800"]}'],
    concerns: ({ type, json }) => dynamic.has(type) && !isValid(json),
  },
  {
    what: "null is an unset member of a oneof, whatever its type",
    reason:
      "null is accepted for every field; protobuf-es takes it for a second member if the member is a message or an enum.",
    here: "read",
    example: [Proto3MessageSchema, '{"nested_oneof_int32_value":1,"nested_oneof_value_one":null}'],
    concerns: ({ json }) => json === null,
  },
  {
    what: "a path of a FieldMask has names of fields and keys of maps, and nothing else",
    reason: 'protobuf-es takes any text without an underscore, such as "a,,b", "a..b" and "items[0]".',
    here: "refused",
    example: [OddFieldsSchema, '{"masks":["items[0]"]}'],
    concerns: ({ type, json }) =>
      isMask(type, json) && !/^[\w.,/-]*$/.test(json.replaceAll(/,,|\.\.|[.,]$|^[.,\d-]/g, "!")),
  },
  {
    what: "the keys of maps in a FieldMask may be quoted (AIP-161)",
    reason: "protobuf-es takes a key for the name of a field, which has no underscore in JSON.",
    here: "read",
    example: [OddFieldsSchema, '{"masks":["labels.`a_b`"]}'],
    concerns: ({ type, json }) => isMask(type, json) && json.includes("`"),
  },
  {
    what: "an Any of a type with a JSON form of its own has a value alone",
    reason: "protobuf-es takes the members for the value if there is none.",
    here: "refused",
    example: [MaskedSchema, '{"anytype":{"@type":"a/google.protobuf.Struct","b":1}}'],
    concerns: ({ type }) => type === "google.protobuf.Any",
  },
  {
    what: "times exist, and durations end with their unit",
    reason: "protobuf-es moves 30 February to 2 March, and ignores what follows the unit.",
    here: "refused",
    example: [OddFieldsSchema, '{"times":["2027-02-30T00:00:00Z"]}'],
    concerns: ({ type }) => type === "google.protobuf.Timestamp" || type === "google.protobuf.Duration",
  },
];

/** Returns the differences that concern a value in the JSON of a message. */
export function findReadDifferences(desc: DescMessage, json: JsonValue): ReadDifference[] {
  const leaves = leavesOf(desc, json);
  return readDifferences.filter(({ concerns }) => leaves.some(concerns));
}

/** Returns the values in the JSON of a message that have no fields. */
export function leavesOf(desc: DescMessage, json: JsonValue): Leaf[] {
  if (json === null) return [{ type: desc.typeName, json }];
  const wrapped = findWrapped(desc);
  if (wrapped !== undefined) return [{ type: ScalarType[wrapped], json }];
  if (hasJsonFormOfItsOwn(desc)) return [{ type: desc.typeName, json }];
  return Object.entries(objectOf(json)).flatMap(([key, value]) => {
    const field = fieldOfKey(desc, key);
    return field === undefined ? [] : leavesOfField(field, value);
  });
}

function leavesOfField(field: DescField, json: JsonValue): Leaf[] {
  if (field.fieldKind === "list")
    return Array.isArray(json) ? json.flatMap((item) => leavesOfElement(field, item)) : [{ type: "list", json }];
  if (field.fieldKind !== "map") return leavesOfElement(field, json);
  const isOfNumbers = field.mapKey !== ScalarType.STRING && field.mapKey !== ScalarType.BOOL;
  const keys = isOfNumbers ? Object.keys(objectOf(json)).map((key) => ({ type: "key", json: key })) : [];
  return [...keys, ...Object.values(objectOf(json)).flatMap((item) => leavesOfElement(field, item))];
}

function leavesOfElement(field: DescField, json: JsonValue): Leaf[] {
  if (field.message !== undefined) return leavesOf(field.message, json);
  if (field.enum !== undefined) return [{ type: field.enum.typeName, json }];
  return field.scalar === undefined ? [] : [{ type: ScalarType[field.scalar], json }];
}

function objectOf(json: JsonValue): JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
}

function isValid(json: JsonValue): boolean {
  if (typeof json === "number") return Number.isFinite(json);
  if (typeof json === "string") return json.isWellFormed();
  if (typeof json !== "object" || json === null) return true;
  return Object.entries(json).every(([key, value]) => key.isWellFormed() && isValid(value));
}

/**
 * Checks whether two texts of written JSON are the same, but for the differences that are intended: floats have the fewest digits,
 * where protobuf-es writes their doubles, and -0 stays -0, where JSON.stringify writes 0.
 */
export function isSameWritten(here: string, reference: string): boolean {
  if (here === reference) return true;
  // A number, or a string, which may have digits.
  const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  const [texts, others] = [here.match(token) ?? [], reference.match(token) ?? []];
  const isOtherwiseSame = here.replaceAll(token, "0") === reference.replaceAll(token, "0");
  return (
    isOtherwiseSame && texts.length === others.length && texts.every((text, at) => isSameToken(text, others[at] ?? ""))
  );
}

function isSameToken(here: string, reference: string): boolean {
  if (here === reference || (here === "-0" && reference === "0")) return true;
  if (here.startsWith('"') || reference.startsWith('"')) return false;
  const float = Math.fround(Number(reference));
  return Math.fround(Number(here)) === float && digitsOf(here) < digitsOf(reference);
}

/** Returns the number of significant digits. */
function digitsOf(number: string): number {
  return number
    .replace(/[eE].*/, "")
    .replaceAll(/[-.]/g, "")
    .replace(/^0+/, "")
    .replace(/0+$/, "").length;
}
