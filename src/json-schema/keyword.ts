import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Check, SchemaNode } from "./node.ts";
import type { Pattern } from "./patterns/pattern.ts";

export interface KeywordReader {
  readonly keyword: string;
  readonly value: JsonValue;
  readonly schema: JsonObject;
  /**
   * Reads a schema. It can be used when the whole has been read.
   *
   * @param path from the value of the keyword, or with a leading `..` from the schema that has the keyword.
   * @param inPlace whether it is applied to the same value.
   */
  readonly read: (value: JsonValue, path: readonly (string | number)[], inPlace?: boolean) => SchemaNode;
  /** Returns what a reference leads to, when the whole schema has been read. */
  readonly refer: (reference: string) => Referred;
  /** @throws SchemaError */
  readonly compile: (pattern: string) => Pattern;
  /** @throws SchemaError */
  readonly fail: (problem: string) => never;
}

export interface Referred {
  readonly node: () => SchemaNode;
  /** The name of the dynamic anchor that it leads to, if any. */
  readonly anchor: () => string | undefined;
}

/** Reads a keyword. Returns undefined if it does not limit values. */
export type ReadKeyword = (reader: KeywordReader) => Check | undefined;

export type Keywords = Readonly<Record<string, ReadKeyword>>;

/** Returns a number of items, characters or properties. */
export function readCount({ value, fail }: KeywordReader): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0
    ? value
    : fail("must be an integer that is not negative");
}

export function readNumber({ value, fail }: KeywordReader): number {
  return typeof value === "number" && Number.isFinite(value) ? value : fail("must be number");
}

export function readText({ value, fail }: KeywordReader): string {
  return typeof value === "string" ? value : fail("must be string");
}

export function readBoolean({ value, fail }: KeywordReader): boolean {
  return typeof value === "boolean" ? value : fail("must be boolean");
}

export function readObject({ value, fail }: Pick<KeywordReader, "value" | "fail">): JsonObject {
  return isObject(value) ? value : fail("must be object");
}

/** Returns texts, none of them twice. */
export function readTexts(value: JsonValue, fail: KeywordReader["fail"]): string[] {
  if (!Array.isArray(value)) return fail("must be array");
  const texts = value.map((each) => (typeof each === "string" ? each : fail("must be an array of strings")));
  if (new Set(texts).size < texts.length) fail("must not name anything twice");
  return texts;
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function valueOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

const maxShown = 100;

/** Returns the beginning of a value, for errors. Takes as long as the value, but for texts, of which only the beginning is read. */
export function show(value: JsonValue): string {
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, maxShown + 1) : value);
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}...`;
}
