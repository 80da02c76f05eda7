// Which attributes a response has (RFC 7644, 3.9): `attributes` names those, `excludedAttributes` those that it has not.
import { scimFault } from "./errors.ts";
import { isObject } from "./json.ts";
import { parsePath } from "./filter.ts";

export interface Selection {
  readonly attributes: string;
  readonly excludedAttributes: string;
}

/** Those that each response has. */
const always: ReadonlySet<string> = new Set(["schemas", "id"]);

const maxNames = 50;

/** Names in lower case, each with the parts that are named of it; undefined for all of it. */
type Names = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** Whether a response has an attribute that takes long to read. */
export function isSelected({ attributes, excludedAttributes }: Selection, name: string): boolean {
  const [wanted, left] = [readNames(attributes), readNames(excludedAttributes)];
  if (wanted.size > 0) return wanted.has(name);
  return !left.has(name) || left.get(name) !== undefined;
}

/** @throws ServiceError FIELD_INVALID with `invalidValue` when both are given, or `invalidPath` */
export function select(resource: object, { attributes, excludedAttributes }: Selection): object {
  const [wanted, left] = [readNames(attributes), readNames(excludedAttributes)];
  if (wanted.size > 0 && left.size > 0) {
    throw scimFault("invalidValue", "attributes and excludedAttributes cannot be given together");
  }
  if (wanted.size > 0) return pick(resource, wanted);
  return left.size > 0 ? omit(resource, left) : resource;
}

function readNames(text: string): Names {
  const names = new Map<string, Set<string> | undefined>();
  const given = text.split(",").map((each) => each.trim());
  if (given.length > maxNames) throw scimFault("tooMany", `at most ${maxNames} attributes can be named`);
  for (const each of given) {
    if (each === "") continue;
    const { name, part } = parsePath(each);
    if (part === undefined) names.set(name, undefined);
    else if (!names.has(name)) names.set(name, new Set([part]));
    else names.get(name)?.add(part);
  }
  return names;
}

const pick = (resource: object, wanted: Names): object =>
  entriesOf(resource, (name, value) => {
    if (always.has(name)) return value;
    if (!wanted.has(name)) return undefined;
    const parts = wanted.get(name);
    return parts === undefined ? value : ofParts(value, (part) => parts.has(part));
  });

const omit = (resource: object, left: Names): object =>
  entriesOf(resource, (name, value) => {
    if (always.has(name) || !left.has(name)) return value;
    const parts = left.get(name);
    return parts === undefined ? undefined : ofParts(value, (part) => !parts.has(part));
  });

function ofParts(value: unknown, has: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => ofParts(each, has));
  return isObject(value) ? entriesOf(value, (part, each) => (has(part) ? each : undefined)) : value;
}

function entriesOf(resource: object, to: (name: string, value: unknown) => unknown): object {
  const entries = Object.entries(resource).map(([key, value]) => [key, to(key.toLowerCase(), value)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
