import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { describeElement, describeField, describeScalar } from "../binding/describe-type.ts";
import { type FieldViolation, mostViolations, quote, shorten } from "../errors/rest-error.ts";
import { scalarParser } from "../binding/parse-text.ts";
import { fieldOfKey, findWrapped, hasJsonFormOfItsOwn } from "./json-forms.ts";
import { isLong, isShortEnoughForLong } from "./read-scalar.ts";

const mostTries = 10_000;

/**
 * Says which fields of `json` keep it from being a `desc`. The decoder of protobuf-es stops at the first error and names
 * only the innermost field, so this walks the value once more, after a failure, and tries its leaves one by one.
 *
 * @returns violations with paths such as `book.authors[0].name` or `labels["a"]`, at most `mostViolations`;
 *   none when the errors are behind more leaves than it tries.
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
      else if (other !== undefined && item !== null) report(fieldPath, `excludes ${other}, which is given too`);
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
        else report(entry, `must have as its key ${describeScalar(field.mapKey)}`);
      }
      // Two texts of one number, for example.
      if (!isPlain && violations.length === before) report(path, "has keys that stand for the same");
    } else if (field.fieldKind === "message") {
      walkElement(parent, field, value, path, value);
    } else {
      expect(path, describeField(field), value);
    }
  }

  /** @param alone the value of the field if the element were all that is in it. */
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

  /** Tries one value that holds no other messages. A body is not worth more than `mostTries`: the rest passes. */
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

/** Whether trying the value costs little: text that is too long for an integer is none, and long to find out. */
function isReadable(field: DescField, value: JsonValue): boolean {
  const isOfLongs = isLong(field.message === undefined ? field.scalar : findWrapped(field.message));
  if (Array.isArray(value)) return !isOfLongs || value.every(isShortEnoughForLong);
  if (field.fieldKind !== "map" || !isObject(value)) return !isOfLongs || isShortEnoughForLong(value);
  if (field.mapKey !== ScalarType.STRING && !Object.keys(value).every(isShortEnoughForLong)) return false;
  return !isOfLongs || Object.values(value).every(isShortEnoughForLong);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeJson(value: JsonValue): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "an object" : String(value);
}
