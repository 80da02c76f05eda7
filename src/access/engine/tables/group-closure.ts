import type { EdgeLists } from "./edge-lists.ts";
import type { EntityTable } from "./entity-table.ts";
import type { StoredPart } from "./stored-part.ts";

/** The groups that contain a group, directly or indirectly. */
export interface GroupClosure {
  /** Returns all groups above this one, each once, nearest first, without the group itself. */
  readonly above: (group: number) => Int32Array;
  /** Must be called when a nesting is added or removed, and when a group is created or removed. */
  readonly forget: () => void;
  readonly bytes: () => number;
  /** None: a loaded snapshot starts with an empty cache. */
  readonly parts: () => readonly StoredPart[];
}

/** The limits of the cache. Clearing it is as good as evicting entries, and deep nestings grow with the square of their depth. */
const maxGroups = 16_384;
const maxEntries = 1_000_000;

/** The approximate memory of an entry of the map and its array, without the array's values. */
const bytesOfEntry = 200;

/** @param nestings edges from a group to the groups in which it is nested. */
export function createGroupClosure(groups: EntityTable, nestings: EdgeLists): GroupClosure {
  let cached = new Map<number, Int32Array>();
  let entries = 0;
  const none = new Int32Array();

  function walkUp(group: number): Int32Array {
    // A set iterates over elements that are added on the way. This also terminates on cycles, should there ever be one.
    const found = new Set([group]);
    for (const inner of found) {
      for (let edge = nestings.firstFrom(inner); edge !== 0; edge = nestings.nextFrom(edge)) {
        const outer = nestings.groupOf(edge);
        if (groups.isLive(outer)) found.add(outer);
      }
    }
    found.delete(group);
    return Int32Array.from(found);
  }

  function forget(): void {
    if (entries === 0) return;
    cached = new Map();
    entries = 0;
  }

  return {
    above(group) {
      if (nestings.firstFrom(group) === 0) return none;
      const known = cached.get(group);
      if (known !== undefined) return known;
      const above = walkUp(group);
      if (cached.size >= maxGroups || entries + above.length > maxEntries) forget();
      cached.set(group, above);
      entries += above.length + 1;
      return above;
    },

    forget,
    bytes: () => entries * Int32Array.BYTES_PER_ELEMENT + cached.size * bytesOfEntry,
    parts: () => [],
  };
}

/** Yields the group and all groups nested in it, directly or indirectly, each once. */
export function* groupsWithin(group: number, groups: EntityTable, nestings: EdgeLists): Iterable<number> {
  const found = new Set([group]);
  for (const outer of found) {
    yield outer;
    for (let edge = nestings.firstTo(outer); edge !== 0; edge = nestings.nextTo(edge)) {
      const inner = nestings.sourceOf(edge);
      if (groups.isLive(inner)) found.add(inner);
    }
  }
}
