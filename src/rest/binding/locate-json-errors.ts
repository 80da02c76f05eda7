import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { describeElement, describeField, describeScalar } from "./describe-type.ts";
import { type FieldViolation, mostViolations, quote, shorten } from "../errors/rest-error.ts";
import { scalarParser } from "./parse-text.ts";
import { fieldOfKey, findWrapped, hasJsonFormOfItsOwn } from "../json/json-forms.ts";
import { misreadCheck } from "../json/misread-text.ts";
import { isLong, isShortEnoughForLong } from "../json/read-scalar.ts";

const mostTries = 10_000;

/**
 * Finds the fields of `json` that prevent it from being decoded as a `desc`. The decoder of protobuf-es stops at the first
 * error and names only the innermost field. After a failure, this function therefore walks the value again and decodes its
 * leaves one by one.
 *
 * @returns violations with paths such as `book.authors[0].name` or `labels["a"]`, at most `mostViolations`. The list is
 *   empty if the errors are beyond the first `mostTries` leaves.
 */
export function locateJsonErrors(desc: DescMessage, json: JsonValue, ignoreUnknownFields: boolean): FieldViolation[] {
  const violations: FieldViolation[] = [];
  let tries = 0;

  function report(field: string, description: string): void {
    if (violations.length < mostViolations) violations.push({ field, description });
  }

  function expect(path: string, expected: string, value: JsonValue): void {
    report(path, `must be ${expected}, got ${describeJson(value)}`);
  }

  function walkMessage(message: DescMessage, value: JsonValue, prefix: string, path: string): void {
    if (!isObject(value)) {
      expect(path, "an object", value);
      return;
    }
    const seen = new Set<string>();
    const oneofs = new Map<string, string>();
    for (const [key, item] of Object.entries(value)) {
      const field = fieldOfKey(message, key);
      if (field === undefined) {
        if (!ignoreUnknownFields) report(prefix + shorten(key), `is not a field of ${message.typeName}`);
        continue;
      }
      const fieldPath = prefix + field.name;
      const other = field.oneof && oneofs.get(field.oneof.name);
      if (seen.has(field.name)) report(fieldPath, `is given twice, as ${field.name} and ${field.jsonName}`);
      else if (other !== undefined && item !== null) report(fieldPath, `cannot be set together with ${other}`);
      else walkField(message, field, item, fieldPath);
      seen.add(field.name);
      if (field.oneof !== undefined && item !== null) oneofs.set(field.oneof.name, field.name);
    }
  }

  function walkField(parent: DescMessage, field: DescField, value: JsonValue, path: string): void {
    const isPlain = field.message !== undefined && !hasJsonFormOfItsOwn(field.message);
    if (value === null) return;
    if (!isPlain && isReadable(field, value) && decodes(parent, { [field.jsonName]: value })) return;
    if (field.fieldKind === "list" && Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        walkElement(parent, field, item, `${path}[${index}]`, [item]);
      }
    } else if (field.fieldKind === "map" && isObject(value)) {
      const before = violations.length;
      for (const [key, item] of Object.entries(value)) {
        const entry = `${path}[${JSON.stringify(shorten(key))}]`;
        if (scalarParser(field.mapKey)(key) !== undefined) walkElement(parent, field, item, entry, { [key]: item });
        else report(entry, `must have a key that is ${describeScalar(field.mapKey)}`);
      }
      // For example, two spellings of the same number.
      if (!isPlain && violations.length === before) report(path, "has two keys with the same value");
    } else if (field.fieldKind === "message") {
      walkElement(parent, field, value, path, value);
    } else {
      expect(path, describeField(field), value);
    }
  }

  /** @param alone the value of the field with the element as its only content. */
  function walkElement(
    parent: DescMessage,
    field: DescField,
    element: JsonValue,
    path: string,
    alone: JsonValue,
  ): void {
    const { message } = field;
    if (message !== undefined && !hasJsonFormOfItsOwn(message)) walkMessage(message, element, `${path}.`, path);
    else if (!isReadable(field, element) || !decodes(parent, { [field.jsonName]: alone })) {
      expect(path, describeElement(field), element);
    }
  }

  /** Tries to decode one value that contains no nested messages. After `mostTries` values, the rest counts as valid. */
  function decodes(parent: DescMessage, value: JsonObject): boolean {
    if (violations.length >= mostViolations || ++tries > mostTries) return true;
    try {
      fromJson(parent, value, { ignoreUnknownFields, recursionLimit: Number.MAX_SAFE_INTEGER });
      return true;
    } catch {
      return false;
    }
  }

  walkMessage(desc, json, "", "");
  return violations;
}

/**
 * Checks what `fromJson` does not: text that is too long for a 64-bit integer is invalid, but slow to parse, and some invalid text
 * is read as something else.
 *
 * @param value the value of the field, or one of its items or map values.
 */
function isReadable(field: DescField, value: JsonValue): boolean {
  const isOfLongs = isLong(field.message === undefined ? field.scalar : findWrapped(field.message));
  const isMisread = field.message && misreadCheck(field.message);
  const isItemReadable = (item: JsonValue): boolean =>
    typeof item !== "string" || !((isOfLongs && !isShortEnoughForLong(item)) || isMisread?.(item));
  if (Array.isArray(value)) return value.every(isItemReadable);
  if (field.fieldKind !== "map" || !isObject(value)) return isItemReadable(value);
  if (field.mapKey !== ScalarType.STRING && !Object.keys(value).every(isShortEnoughForLong)) return false;
  return Object.values(value).every(isItemReadable);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeJson(value: JsonValue): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "an object" : String(value);
}
