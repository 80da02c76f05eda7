// Says what is wrong with the fields of an entry that cannot be decoded: the decoder names types, and not fields, of times and enums.
import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
  fromJson,
} from "@bufbuild/protobuf";
import { valueNames } from "../rest/value-names.ts";
import { describe, isObject, quote } from "./json-values.ts";

/** A field below an entry, `labels["env"]` or `events[2]`, and the rule with what would be accepted. */
type WrongField = readonly [field: string, problem: string];

/** Returns the fields that cannot be decoded. */
export function findWrongFields(schema: DescMessage, fields: JsonObject): readonly WrongField[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    if (isDecoded(schema, key, value)) return [];
    const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    return field === undefined ? [] : findInField(schema, field, key, value);
  });
}

function isDecoded(schema: DescMessage, key: string, value: JsonValue): boolean {
  try {
    fromJson(schema, { [key]: value });
    return true;
  } catch {
    return false;
  }
}

/** Returns what is wrong in a field; of a list or map, in the first element that is. */
function findInField(schema: DescMessage, field: DescField, key: string, value: JsonValue): readonly WrongField[] {
  if (field.fieldKind === "list") {
    if (!Array.isArray(value)) return [[key, `must be a list, got ${describe(value)}`]];
    const index = value.findIndex((item) => !isDecoded(schema, key, [item]));
    return findInElement(field, `${key}[${index}]`, value[index] ?? null);
  }
  if (field.fieldKind === "map") {
    if (!isObject(value)) return [[key, `must be an object, got ${describe(value)}`]];
    const found = Object.entries(value).find(([name, item]) => !isDecoded(schema, key, { [name]: item }));
    return found === undefined ? [] : findInElement(field, `${key}[${quote(found[0])}]`, found[1]);
  }
  return findInElement(field, key, value);
}

function findInElement(field: DescField, place: string, value: JsonValue): readonly WrongField[] {
  const nested = field.message !== undefined && isObject(value) ? findWrongFields(field.message, value) : [];
  if (nested.length > 0) return nested.map(([name, problem]) => [`${place}.${name}`, problem]);
  const got = typeof value === "string" ? quote(value) : describe(value);
  return [[place, `must be ${accepted(field)}, got ${got}`]];
}

const wellKnown: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": 'a time in RFC 3339, such as "2030-01-31T12:00:00Z"',
  "google.protobuf.Duration": 'a duration in seconds, such as "3600s"',
};

function accepted({ enum: ofEnum, message, scalar }: DescField): string {
  if (ofEnum !== undefined) return `one of ${valueNames(ofEnum).join(", ")}`;
  if (message !== undefined) return wellKnown[message.typeName] ?? "an object";
  if (scalar === ScalarType.STRING) return "a string";
  if (scalar === ScalarType.BOOL) return "true or false";
  if (scalar === ScalarType.BYTES) return "bytes in base64";
  return scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT ? "a number" : "a whole number within its limits";
}
