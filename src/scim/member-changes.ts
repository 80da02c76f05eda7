// What the operations of a request do to the members of a group, without knowing who is in it: groups can be large.
import { type Given, attributeOf, isObject } from "./json.ts";
import { scimFault } from "./errors.ts";
import { isId } from "./conditions.ts";
import { type Operation, unknownAttribute } from "./operations.ts";

export interface MemberChanges {
  /** Whether all who are in the group leave, but those who are added. */
  readonly isReplaced: boolean;
  readonly added: ReadonlySet<string>;
  /** None if it is replaced. */
  readonly removed: ReadonlySet<string>;
}

export const unchanged: MemberChanges = { isReplaced: false, added: new Set(), removed: new Set() };

/** How many members a request names, and how many it adds and removes. */
export const maxMembers = 5_000;

/** Reads the ids of members. @throws ServiceError FIELD_INVALID with `invalidValue` or `tooMany` */
function readMembers(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (all.length > maxMembers) {
    throw scimFault("tooMany", `a request can name at most ${maxMembers} members; send several`);
  }
  return all.map((each) => {
    const id = isObject(each) ? attributeOf(each, "value") : each;
    if (isId(id)) return id.toLowerCase();
    throw scimFault("invalidValue", "each of members must have the id of a user as its value");
  });
}

export const replaceWith = (body: Given): MemberChanges => ({
  isReplaced: true,
  added: new Set(readMembers(attributeOf(body, "members"))),
  removed: new Set(),
});

/** @throws ServiceError FIELD_INVALID */
export function changeMembers(before: MemberChanges, { verb, path, value }: Operation): MemberChanges {
  const { where, part } = path;
  if (part !== undefined && part !== "value") unknownAttribute(path, ["members", 'members[value eq "..."]']);
  if (where === undefined) {
    const ids = readMembers(value);
    if (verb === "replace") return { isReplaced: true, added: new Set(ids), removed: new Set() };
    if (verb === "add") return add(before, ids);
    // By the standard, all leave. Some directories name those who do in the value.
    return value === undefined || value === null ? replaceWith({}) : remove(before, ids);
  }
  const ids = where.map(({ path: of, value: id }) => {
    const isValue = of.name === "value" && of.schema === "" && of.part === undefined;
    if (!isValue) throw scimFault("invalidFilter", "members are chosen by value alone");
    return isId(id) ? id.toLowerCase() : "";
  });
  const [only = "", ...others] = new Set(ids);
  if (verb !== "remove") throw scimFault("invalidPath", "members that are chosen can only be removed");
  // Nobody has two ids.
  return others.length > 0 || only === "" ? before : remove(before, [only]);
}

function add({ isReplaced, added, removed }: MemberChanges, ids: readonly string[]): MemberChanges {
  return { isReplaced, added: new Set([...added, ...ids]), removed: without(removed, ids) };
}

function remove({ isReplaced, added, removed }: MemberChanges, ids: readonly string[]): MemberChanges {
  const left = without(added, ids);
  return { isReplaced, added: left, removed: isReplaced ? removed : new Set([...removed, ...ids]) };
}

function without(ids: ReadonlySet<string>, others: readonly string[]): ReadonlySet<string> {
  const left = new Set(ids);
  for (const each of others) left.delete(each);
  return left;
}
