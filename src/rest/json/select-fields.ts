import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { offerNames } from "../errors/offer-names.ts";
import { quote } from "../errors/rest-error.ts";
import { hasJsonFormOfItsOwn } from "./json-forms.ts";
import { type FieldPath, isWildcard } from "../field-paths.ts";
import { parseFieldPaths, refuseFields } from "./parse-field-paths.ts";

export type FieldSelection = "all" | SelectedMembers;

interface SelectedMembers {
  /** The part of each member to keep, by proto name or map key. */
  readonly members: Map<string, FieldSelection>;
  /** The part of every entry of a map to keep, in addition to `members`. */
  others: FieldSelection | undefined;
}

/**
 * Parses and checks the field paths of a partial response (AIP-157), such as `name,members.name,labels.env`, with proto
 * names or JSON names. A path applies to each item of a list, with or without a `*` for the items. After a map, it
 * continues with a key, or with `*` for all keys. A final `*` selects everything. Scalars and messages with a special JSON
 * form, such as Timestamp, have no fields to select.
 *
 * @param paths text in the grammar of `field-paths.ts`.
 * @throws RestError FIELD_INVALID for `fields`.
 */
export function compileFieldSelection(desc: DescMessage, paths: string): FieldSelection {
  return parseFieldPaths(paths)
    .map((path) => selectInMessage(desc, path, 0))
    .reduce(unite);
}

/** Selects parts of the JSON of a message, which has proto names, or of each item of an array. Shares the selected values. */
export function select(json: JsonValue, selection: FieldSelection): JsonValue {
  return selection === "all" ? json : selectAny(json, [selection]);
}

/** Keeps what any of the selections keeps. An entry of a map may be selected both by its key and by `*`. */
function selectAny(json: JsonValue, selections: readonly SelectedMembers[]): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map((item) => selectAny(item, selections));
  const kept = Object.entries(json).flatMap(([key, value]): [string, JsonValue][] => {
    // The JSON writers set absent members to undefined.
    if (value === undefined) return [];
    const inner = selections.flatMap(({ members, others }) => [members.get(key), others]);
    if (inner.includes("all")) return [[key, value]];
    const narrower = inner.filter((selection) => typeof selection === "object");
    return narrower.length === 0 ? [] : [[key, selectAny(value, narrower)]];
  });
  return Object.fromEntries(kept);
}

/** Returns what the segments of the path from `at` on select in a message. */
function selectInMessage(desc: DescMessage, path: FieldPath, at: number): FieldSelection {
  const segment = path[at];
  if (segment === undefined) return "all";
  const { name } = segment;
  if (isWildcard(segment)) {
    if (at < path.length - 1) refusePath(path, `nothing may follow the * of ${desc.typeName}`);
    return "all";
  }
  const field = hasJsonFormOfItsOwn(desc) ? undefined : findField(desc, name);
  if (field === undefined) {
    refusePath(path, `${quote(name)} is not a field of ${desc.typeName}; its fields are ${offer(desc)}`);
  }
  return selectMember(field.name, selectInField(field, path, at + 1));
}

function selectInField(field: DescField, path: FieldPath, at: number): FieldSelection {
  const segment = path[at];
  if (segment === undefined) return "all";
  if (field.fieldKind === "map") {
    const inner = selectInElement(field, path, at + 1);
    return isWildcard(segment) ? { members: new Map(), others: inner } : selectMember(segment.name, inner);
  }
  const isOfItems = field.fieldKind === "list" && isWildcard(segment);
  return selectInElement(field, path, isOfItems ? at + 1 : at);
}

function selectInElement(field: DescField, path: FieldPath, at: number): FieldSelection {
  if (at >= path.length) return "all";
  if (field.message !== undefined && !hasJsonFormOfItsOwn(field.message)) {
    return selectInMessage(field.message, path, at);
  }
  return refusePath(path, `${field.name} has no fields`);
}

function selectMember(name: string, inner: FieldSelection): FieldSelection {
  return { members: new Map([[name, inner]]), others: undefined };
}

/** Returns the union of two selections. May modify the first one. */
function unite(one: FieldSelection, other: FieldSelection): FieldSelection {
  if (one === "all" || other === "all") return "all";
  const { members } = one;
  for (const [name, inner] of other.members) {
    const there = members.get(name);
    members.set(name, there === undefined ? inner : unite(there, inner));
  }
  if (other.others !== undefined)
    one.others = one.others === undefined ? other.others : unite(one.others, other.others);
  return one;
}

function findField(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name) ?? desc.fields.find((field) => field.jsonName === name);
}

function offer(desc: DescMessage): string {
  if (hasJsonFormOfItsOwn(desc)) return "*";
  return offerNames([...desc.fields.map((field) => field.name), "*"]);
}

function refusePath(path: FieldPath, why: string): never {
  return refuseFields(`has the path ${quote(path.map(({ name }) => name).join("."))}, but ${why}`);
}
