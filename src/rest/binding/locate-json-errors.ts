import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describeElement, describeField, describeMapKey } from "./describe-type.ts";
import { offerNames } from "../errors/offer-names.ts";
import { type FieldViolation, mostViolations, quote, shorten } from "../errors/rest-error.ts";
import { fieldOfKey, hasJsonFormOfItsOwn, isNullAValue } from "../json/json-forms.ts";
import { NumberText, parseMapKey } from "../json/number-text.ts";
import type { JsonReaders } from "../json/read-json.ts";
import { openAny } from "../json/read-well-known.ts";
import { RefusedValue } from "../json/refused-value.ts";

const mostTries = 10_000;

/**
 * Finds the fields of `json` that prevent it from being decoded as a `desc`. The readers stop at the first
 * error and do not name the field. After a failure, this function therefore walks the value again and decodes its
 * leaves one by one.
 *
 * @param body the field of `desc` that the body of a REST request is; empty if it is the whole `desc`.
 * @returns violations with paths such as `book.authors[0].name` or `labels["a"]`, at most `mostViolations`. The list is
 *   empty if the errors are beyond the first `mostTries` leaves.
 */
export function locateJsonErrors(
  desc: DescMessage,
  json: JsonValue,
  readers: JsonReaders,
  body = "",
): FieldViolation[] {
  const { ignoreUnknownFields, registry } = readers.options;
  const violations: FieldViolation[] = [];
  const refuseUnknown = createRefuseUnknown();
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
        const ofRequest = path === body ? fieldOfKey(desc, key) : undefined;
        const description = ofRequest === undefined ? refuseUnknown(message) : refuseInBody(ofRequest, message, body);
        if (!ignoreUnknownFields) report(prefix + shorten(key), description);
        continue;
      }
      const fieldPath = prefix + field.name;
      const other = field.oneof && oneofs.get(field.oneof.name);
      if (seen.has(field.name)) report(fieldPath, `is given twice, as ${field.name} and ${field.jsonName}`);
      else if (other !== undefined && isSet(field, item)) report(fieldPath, `cannot be set together with ${other}`);
      else walkField(message, field, item, fieldPath);
      seen.add(field.name);
      if (field.oneof !== undefined && isSet(field, item)) oneofs.set(field.oneof.name, field.name);
    }
  }

  function walkField(parent: DescMessage, field: DescField, value: JsonValue, path: string): void {
    const isPlain = field.message !== undefined && !hasJsonFormOfItsOwn(field.message);
    if (value === null) return;
    const error = isPlain ? undefined : readAlone(parent, { [field.jsonName]: value });
    if (!isPlain && error === undefined) return;
    if (field.fieldKind === "list" && Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        walkElement(parent, field, item, `${path}[${index}]`, [item]);
      }
    } else if (field.fieldKind === "map" && isObject(value)) {
      const before = violations.length;
      for (const [key, item] of Object.entries(value)) {
        const entry = `${path}[${JSON.stringify(shorten(key))}]`;
        if (parseMapKey(field.mapKey, key) !== undefined)
          walkElement(parent, field, item, entry, Object.fromEntries([[key, item]]));
        else report(entry, `must have a key that is ${describeMapKey(field.mapKey)}`);
      }
      // For example, two spellings of the same number.
      if (!isPlain && violations.length === before) report(path, "has two keys with the same value");
    } else if (field.fieldKind === "message") {
      walkElement(parent, field, value, path, value);
    } else if (error instanceof RefusedValue) {
      report(path, error.description);
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
    if (message !== undefined && !hasJsonFormOfItsOwn(message)) {
      walkMessage(message, element, `${path}.`, path);
      return;
    }
    const error = readAlone(parent, { [field.jsonName]: alone });
    if (error === undefined) return;
    const before = violations.length;
    if (error instanceof RefusedValue) report(path, error.description);
    else if (message?.typeName === "google.protobuf.Any" && isObject(element)) walkAny(element, path);
    if (violations.length === before) expect(path, describeElement(field), element);
  }

  /** @param value a google.protobuf.Any whose type is known. */
  function walkAny(value: JsonObject, path: string): void {
    const { desc: inner, content } = openAny(value, registry);
    if (!hasJsonFormOfItsOwn(inner)) walkMessage(inner, content, `${path}.`, path);
  }

  /**
   * Tries to read one value that contains no nested messages, and returns the error. After `mostTries` values, the rest counts
   * as valid.
   */
  function readAlone(parent: DescMessage, value: JsonObject): unknown {
    if (violations.length >= mostViolations || ++tries > mostTries) return undefined;
    try {
      readers.message(parent)(value);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  walkMessage(desc, json, "", "");
  return violations;
}

function isSet(field: DescField, value: JsonValue): boolean {
  return value !== null || isNullAValue(field);
}

/** Returns what refuses a field that a type does not have. It lists the fields of the type for the first one. */
function createRefuseUnknown(): (message: DescMessage) => string {
  const offered = new Set<string>();
  return ({ typeName, fields }) => {
    const description = `is not a field of ${typeName}`;
    if (offered.has(typeName)) return description;
    offered.add(typeName);
    return `${description}; its fields are ${offerNames(fields.map(({ name }) => name))}`;
  };
}

/** Says where a field of the request belongs that is in the body, which is another one of its fields. */
function refuseInBody({ name }: DescField, { typeName }: DescMessage, body: string): string {
  return name === body
    ? `is not a field of ${typeName}, but the whole body: send the fields that are in it`
    : `is not a field of ${typeName}, but a parameter of the URL`;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

function describeJson(value: JsonValue): string {
  if (typeof value === "string") return quote(value);
  if (value instanceof NumberText) return shorten(value.text);
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "an object" : String(value);
}
