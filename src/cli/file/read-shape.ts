// Reads values of unknown shape from a file written by a user. A problem is passed to `fail` with its place
// (`groups[3].members[1]`). Reading continues with an empty value, so that all problems are reported together.

import { printable } from "../printable.ts";

/** A number or boolean of a file, as it is written: `007`, `TRUE`. The format has none, so they are texts without their quotes. */
export class Unquoted {
  readonly type: string;
  readonly source: string;

  constructor(type: string, source: string) {
    this.type = type;
    this.source = source;
  }
}

export type Fail = (place: string, problem: string) => void;

/** Reads an object with no other keys than `keys`. A null value counts as missing, like a key without a value in YAML. */
export function readObject<const Key extends string>(
  value: unknown,
  place: string,
  keys: readonly Key[],
  fail: Fail,
): Readonly<Partial<Record<Key, unknown>>> {
  if (!isObject(value)) fail(place, `must be an object, got ${describe(value)}`);
  const fields: Partial<Record<Key, unknown>> = {};
  for (const [key, field] of Object.entries(isObject(value) ? value : {})) {
    if (isOneOf(keys, key)) fields[key] = field;
    else fail(at(place, key), `is not a known key; the keys are ${keys.join(", ")}`);
  }
  return fields;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Unquoted);
}

function isOneOf<const Text extends string>(texts: readonly Text[], value: unknown): value is Text {
  return (texts as readonly unknown[]).includes(value);
}

export function readList<Item>(
  value: unknown,
  place: string,
  fail: Fail,
  readItem: (item: unknown, place: string) => Item,
): Item[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((item, index) => readItem(item, `${place}[${index}]`));
  fail(place, `must be a list, got ${describe(value)}`);
  return [];
}

/** Reads an optional text; empty if missing. */
export function readText(value: unknown, place: string, fail: Fail): string {
  return value === undefined || value === null ? "" : readString(value, place, fail);
}

export function readName(value: unknown, place: string, fail: Fail): string {
  if (value === undefined) {
    fail(place, "is missing");
    return "";
  }
  const name = readString(value, place, fail);
  if (typeof value === "string" && name.trim() === "") fail(place, "must not be blank");
  return name;
}

/** Reads one of `texts`; undefined if the value is none of them. */
export function readOneOf<const Text extends string>(
  value: unknown,
  place: string,
  texts: readonly Text[],
  fail: Fail,
): Text | undefined {
  if (isOneOf(texts, value)) return value;
  const got = typeof value === "string" ? `"${printable(value)}"` : describe(value);
  fail(place, `must be one of ${texts.join(", ")}, got ${got}`);
  return undefined;
}

function readString(value: unknown, place: string, fail: Fail): string {
  if (typeof value !== "string") {
    const written = writtenScalar(value);
    fail(
      place,
      `must be a string, got ${describe(value)}${written === undefined ? "" : `; write "${printable(written)}"`}`,
    );
    return "";
  }
  if (!value.isWellFormed()) fail(place, "must be valid Unicode; it contains an unpaired surrogate");
  return value;
}

/** Returns a number or boolean as it is written; undefined for anything else. */
function writtenScalar(value: unknown): string | undefined {
  if (value instanceof Unquoted) return value.source;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Returns the place of `key` in the object at `place`. */
export function at(place: string, key: string): string {
  return place === "" ? key : `${place}.${key}`;
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value instanceof Unquoted) return value.type;
  return Array.isArray(value) ? "list" : typeof value;
}
