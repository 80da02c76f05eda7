import type { DescField, DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { fieldOfKey } from "../json/json-forms.ts";
import { describeElement } from "./describe-type.ts";
import { childOf, compileSetter, otherOneofMember, readField } from "./message-access.ts";
import { compileTextParser } from "./parse-text.ts";
import type { PathVariable } from "../routing/path-template.ts";
import { type FieldViolation, quote } from "../errors/rest-error.ts";

/** Writes the value of one path variable into the request message. */
export interface PathBinding {
  /** The field, as a dotted path of proto names. */
  readonly field: string;
  /** Parses the captured text. Returns undefined if the text is not valid for the field. */
  parse(text: string): unknown;
  set(message: Message, value: unknown): void;
  read(message: Message): unknown;
  /** Returns the proto name of a set oneof member that excludes the field or one of its parents, if any. */
  excludedBy(message: Message): string | undefined;
  /** Checks whether the JSON of the request also sets the field. */
  isMentioned(json: JsonValue): boolean;
  invalid(text: string): FieldViolation;
}

/**
 * @param where the name of the rule, for errors.
 * @throws Error unless the variable names a singular scalar or enum field.
 */
export function compilePathBinding(input: DescMessage, variable: PathVariable, where: string): PathBinding {
  const fields = resolveFieldPath(input, variable.fieldPath, where);
  const leaf = fields.at(-1);
  const name = variable.fieldPath.join(".");
  if (leaf === undefined || (leaf.fieldKind !== "scalar" && leaf.fieldKind !== "enum")) {
    throw new Error(`${where}: path variable ${name} must be a scalar or an enum that is not repeated`);
  }
  const parents = fields.slice(0, -1);
  const parse = compileTextParser(leaf, 0);
  const setLeaf = compileSetter(leaf);
  const keys = fields.map((field) =>
    [field.jsonName, field.name].filter((key) => fieldOfKey(field.parent, key) === field),
  );
  return {
    field: name,
    parse: (text) => parse?.(text),
    set: parents.length === 0 ? setLeaf : (message, value) => setLeaf(parents.reduce(childOf, message), value),
    read: (message) => readField(parents.reduce(childOf, message), leaf),
    excludedBy: fields.some((field) => field.oneof !== undefined)
      ? (message) => findExcluding(message, fields)
      : () => undefined,
    isMentioned: (json) => isMentioned(json, keys),
    invalid: (text) => ({
      field: name,
      description: `must be ${describeElement(leaf)}, got ${quote(text)} in the path`,
    }),
  };
}

function resolveFieldPath(input: DescMessage, names: readonly string[], where: string): DescField[] {
  let desc: DescMessage | undefined = input;
  return names.map((name) => {
    const field: DescField | undefined = desc?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) {
      throw new Error(`${where}: ${input.typeName} has no field ${names.join(".")}`);
    }
    desc = field.fieldKind === "message" ? field.message : undefined;
    return field;
  });
}

function findExcluding(message: Message, fields: readonly DescField[]): string | undefined {
  let holder: Message | undefined = message;
  for (const field of fields) {
    if (holder === undefined) return undefined;
    const other = otherOneofMember(holder, field);
    if (other !== undefined) return other;
    holder = field.message === undefined ? undefined : (readField(holder, field) as Message | undefined);
  }
  return undefined;
}

/** @param path the possible keys of each field on the path. */
function isMentioned(json: JsonValue, path: readonly (readonly string[])[]): boolean {
  let value: JsonValue | undefined = json;
  for (const keys of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const given: JsonObject = value;
    const key = keys.find((name) => Object.hasOwn(given, name));
    value = key === undefined ? undefined : given[key];
  }
  return value !== undefined && value !== null;
}

export function isSameScalar(left: unknown, right: unknown): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right) === 0;
  return Object.is(left, right);
}
