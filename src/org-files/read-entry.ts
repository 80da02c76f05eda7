// Reads the entries of a file. A problem is told with its place (`org_file.groups[3].members[1]`), and reading goes on, so that all are told at once.
import { type DescMessage, type JsonObject, type JsonValue, type Message, fromJson } from "@bufbuild/protobuf";
import { nearestNames } from "../errors/nearest-names.ts";
import { ServiceError } from "../errors/service-error.ts";
import { validateMessage } from "../validation/validate-message.ts";
import { type FileType, fileFieldsOf, fileForms, nameFieldOf, secretFields, toFileMessage } from "./file-resources.ts";
import { describe, isObject, quote } from "./json-values.ts";
import { findWrongFields } from "./wrong-fields.ts";

/** Tells a problem: the place, and the rule with what would be accepted. */
export type Fail = (place: string, problem: string) => void;

/** How many unknown keys of an object are told one by one. */
const maxUnknownKeys = 20;

/** Returns an object without its nulls, which are keys without a value in YAML. */
export function readObject(
  value: JsonValue,
  place: string,
  keys: readonly string[],
  fail: Fail,
): JsonObject | undefined {
  if (!isObject(value)) {
    fail(place, `must be an object, got ${describe(value)}`);
    return undefined;
  }
  const entries = Object.entries(value);
  // Each unknown one is compared with those that there are.
  if (entries.length > keys.length + maxUnknownKeys) {
    fail(place, `has ${entries.length} keys. The keys are ${keys.join(", ")}`);
    return undefined;
  }
  const known = entries.filter(([key, field]) => {
    if (keys.includes(key)) return field !== null;
    const [meant] = nearestNames(key, keys);
    fail(
      place,
      `has the unknown key ${quote(key)}${meant === undefined ? "." : `; did you mean ${meant}?`} The keys are ${keys.join(", ")}`,
    );
    return false;
  });
  return Object.fromEntries(known);
}

export function readList(value: JsonValue | undefined, place: string, fail: Fail): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  fail(place, `must be a list, got ${describe(value)}`);
  return [];
}

export function readText(value: JsonValue | undefined, place: string, fail: Fail): string {
  if (typeof value === "string" && value !== "") return value;
  const got = value === undefined ? "nothing" : describe(value);
  fail(place, value === "" ? "must not be empty" : `must be a string, got ${got}`);
  return "";
}

/** An entry as it is written, with the keys of its message apart from others. */
export interface Entry {
  readonly fields: JsonObject;
  readonly others: JsonObject;
}

/**
 * Reads an entry: an object, or its name alone.
 *
 * @param others keys that it can have besides those of its message.
 */
export function readEntry(
  type: FileType,
  value: JsonValue,
  place: string,
  others: readonly string[],
  fail: Fail,
): Entry | undefined {
  if (typeof value === "string") return { fields: { [nameFieldOf(type)]: readText(value, place, fail) }, others: {} };
  const keys = [...fileFieldsOf(fileForms[type].schema).map(({ name }) => name), ...others];
  const all = readObject(value, place, keys, fail);
  if (all === undefined) return undefined;
  const entries = Object.entries(all);
  return {
    fields: Object.fromEntries(entries.filter(([key]) => !others.includes(key))),
    others: Object.fromEntries(entries.filter(([key]) => others.includes(key))),
  };
}

interface ReadMessage {
  /** Without secrets, as in an export. */
  readonly message: Message;
  /** With them. */
  readonly sent: Message;
}

/** Reads the message of an entry, which must keep the constraints of its proto. Undefined if it is at fault. */
export function readMessage(type: FileType, fields: JsonObject, place: string, fail: Fail): ReadMessage | undefined {
  const { schema } = fileForms[type];
  let message: Message;
  try {
    message = fromJson(schema, fields);
  } catch (error) {
    failEach(schema, fields, place, fail, error);
    return undefined;
  }
  try {
    validateMessage(schema, message);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    for (const { field, description } of error.violations) fail(`${place}.${field}`, description);
    return undefined;
  }
  const kept = toFileMessage(schema, message);
  return { message: kept, sent: Object.keys(fields).some((name) => secretFields.has(name)) ? message : kept };
}

/** Tells which fields cannot be decoded, or what the decoder says if each can by itself. */
export function failEach(schema: DescMessage, fields: JsonObject, place: string, fail: Fail, error: unknown): void {
  const wrong = findWrongFields(schema, fields);
  for (const [field, problem] of wrong) fail(`${place}.${field}`, problem);
  if (wrong.length === 0) fail(place, error instanceof Error ? error.message.slice(0, 300) : String(error));
}
