// Reads values of unknown shape, from a file that people wrote. A problem is told to `fail` with its place
// (`groups[3].members[1]`) and reading goes on with an empty value, so that all problems are found in one go.

export type Fail = (place: string, problem: string) => void;

/** A mapping with no other keys than `keys`. What is null counts as left out, as in YAML a key with nothing after it. */
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
    else fail(at(place, key), `is not known here; what may be given is ${keys.join(", ")}`);
  }
  return fields;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOneOf<const Key extends string>(keys: readonly Key[], key: string): key is Key {
  return (keys as readonly string[]).includes(key);
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

/** A text that may be left out, which is the same as an empty one. */
export function readText(value: unknown, place: string, fail: Fail): string {
  return value === undefined || value === null ? "" : readString(value, place, fail);
}

/** A name in the words of whoever wrote it; it must not be blank. */
export function readName(value: unknown, place: string, fail: Fail): string {
  if (value === undefined) {
    fail(place, "is missing");
    return "";
  }
  const name = readString(value, place, fail);
  if (typeof value === "string" && name.trim() === "") fail(place, "must not be blank");
  return name;
}

function readString(value: unknown, place: string, fail: Fail): string {
  if (typeof value !== "string") {
    const isScalar = typeof value === "number" || typeof value === "boolean";
    fail(place, `must be a string, got ${describe(value)}${isScalar ? `; write "${String(value)}"` : ""}`);
    return "";
  }
  if (!value.isWellFormed()) fail(place, "must be text; it holds half of a surrogate pair");
  return value;
}

/** The place of `key` in the object at `place`. */
export function at(place: string, key: string): string {
  return place === "" ? key : `${place}.${key}`;
}

export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}
