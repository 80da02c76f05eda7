import type { EdgeLists } from "./edge-lists.ts";
import type { EntityTable } from "./entity-table.ts";

/** What groups a group is in, directly or not. */
export interface GroupClosure {
  /** All groups above this one, each once, nearest first; not the group itself. */
  readonly above: (group: number) => Int32Array;
  /** To be called when a nesting was added or removed, or a group has come or gone. */
  readonly forget: () => void;
  readonly bytes: () => number;
}

/** What the cache holds at most: it is as good to start anew, and deep nestings grow with the square of their depth. */
const maxGroups = 16_384;
const maxEntries = 1_000_000;

/** About what an entry of the map and its array cost beside the array's values. */
const bytesOfEntry = 200;

/** @param nestings edges from a group to the groups that it is nested in. */
export function createGroupClosure(groups: EntityTable, nestings: EdgeLists): GroupClosure {
  let cached = new Map<number, Int32Array>();
  let entries = 0;
  const none = new Int32Array();

  function walkUp(group: number): Int32Array {
    // A set goes through what is added to it on the way; it also ends cycles, should there ever be one.
    const found = new Set([group]);
    for (const inner of found) {
      for (let edge = nestings.firstFrom(inner); edge !== 0; edge = nestings.nextFrom(edge)) {
        const outer = nestings.targetOf(edge);
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
  };
}

/** The group and all groups nested in it, directly or not, each once. */
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
