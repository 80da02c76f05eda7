import type { DescField, DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import { describeElement } from "./describe-type.ts";
import { childOf, compileSetter, readField } from "./message-access.ts";
import { compileTextParser } from "./parse-text.ts";
import type { PathVariable } from "../routing/path-template.ts";
import { type FieldViolation, quote } from "../errors/rest-error.ts";

/** Writes what one path variable captured into the request. */
export interface PathBinding {
  /** The field, as a dotted path of proto names. */
  readonly field: string;
  /** Reads the captured text; undefined when the field takes no such value. */
  parse(text: string): unknown;
  set(message: Message, value: unknown): void;
  /** What the message holds for the field now. */
  read(message: Message): unknown;
  /** Whether the request's JSON gives the field too. */
  isMentioned(json: JsonValue): boolean;
  invalid(text: string): FieldViolation;
}

/**
 * @param where names the rule in errors.
 * @throws Error when the variable does not name a field that text can express: a scalar or an enum, not repeated.
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
  return {
    field: name,
    parse: (text) => parse?.(text),
    set: parents.length === 0 ? setLeaf : (message, value) => setLeaf(parents.reduce(childOf, message), value),
    read: (message) => readField(parents.reduce(childOf, message), leaf),
    isMentioned: (json) => isMentioned(json, fields),
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

function isMentioned(json: JsonValue, fields: readonly DescField[]): boolean {
  let value: JsonValue | undefined = json;
  for (const field of fields) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const key = [field.jsonName, field.name].find((name) => Object.hasOwn(value as object, name) && means(field, name));
    value = key === undefined ? undefined : value[key];
  }
  return value !== undefined && value !== null;
}

/** Whether a JSON key is the field's: its proto name is not, where it is the JSON name of another one. */
function means(field: DescField, key: string): boolean {
  return key === field.jsonName || !field.parent.fields.some((other) => other.jsonName === key);
}

/** Whether two values of one scalar field are the same. */
export function isSameScalar(left: unknown, right: unknown): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right) === 0;
  return Object.is(left, right);
}
