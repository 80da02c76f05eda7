// What the operations of a request do to the members of a group, without knowing who is in it: groups can be large. All operations of a
// request together name a bounded number of members, so the work grows with what is sent and no faster.
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

/** How many members a request names, and how many it adds and removes. */
export const maxMembers = 5_000;

/** Collects what operations do, one after another. */
export function createMemberChanges() {
  let isReplaced = false;
  let named = 0;
  const [added, removed] = [new Set<string>(), new Set<string>()];

  /** Reads the ids of members. @throws ServiceError FIELD_INVALID with `invalidValue` or `tooMany` */
  function readMembers(value: unknown): readonly string[] {
    if (value === undefined || value === null) return [];
    const all = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    named += all.length;
    if (named > maxMembers) {
      throw scimFault("tooMany", `a request can name at most ${maxMembers} members; send several`);
    }
    return all.map((each) => {
      const id = isObject(each) ? attributeOf(each, "value") : each;
      if (isId(id)) return id.toLowerCase();
      throw scimFault("invalidValue", "each of members must have the id of a user as its value");
    });
  }

  function add(ids: readonly string[]): void {
    for (const id of ids) {
      added.add(id);
      removed.delete(id);
    }
  }

  function replace(ids: readonly string[]): void {
    isReplaced = true;
    added.clear();
    removed.clear();
    add(ids);
  }

  function remove(ids: readonly string[]): void {
    for (const id of ids) {
      added.delete(id);
      if (!isReplaced) removed.add(id);
    }
  }

  return {
    /** Replaces them by those of a whole group. @throws ServiceError FIELD_INVALID */
    replaceBy: (body: Given): void => replace(readMembers(attributeOf(body, "members"))),

    /** @throws ServiceError FIELD_INVALID */
    apply({ verb, path, value }: Operation): void {
      const { where, part } = path;
      if (part !== undefined && part !== "value") unknownAttribute(path, ["members", 'members[value eq "..."]']);
      if (where !== undefined) {
        if (verb !== "remove") throw scimFault("invalidPath", "members that are chosen can only be removed");
        remove(chosenBy(where));
      } else if (verb === "replace") replace(readMembers(value));
      else if (verb === "add") add(readMembers(value));
      // By the standard, all leave. Some directories name those who do in the value.
      else if (value === undefined || value === null) replace([]);
      else remove(readMembers(value));
    },

    result: (): MemberChanges => ({ isReplaced, added, removed }),
  };
}

/** Returns whom a value filter chooses: one, or nobody. @throws ServiceError FIELD_INVALID with `invalidFilter` */
function chosenBy(where: NonNullable<Operation["path"]["where"]>): readonly string[] {
  const ids = where.map(({ path: of, value: id }) => {
    const isValue = of.name === "value" && of.schema === "" && of.part === undefined;
    if (!isValue) throw scimFault("invalidFilter", "members are chosen by value alone");
    return isId(id) ? id.toLowerCase() : "";
  });
  const [only = "", ...others] = new Set(ids);
  // Nobody has two ids.
  return others.length > 0 || only === "" ? [] : [only];
}
