import type { Nesting } from "./subgroup-store.ts";

/** Which groups are nested in which, with those that a batch adds. */
export interface Nestings {
  /** Reports whether a group is another one, or one in which that is nested, directly or indirectly. */
  readonly isAround: (groupId: string, other: string) => boolean;
  readonly add: (groupId: string, subgroupId: string) => void;
}

export function createNesting(nestings: readonly Nesting[]): Nestings {
  const above = new Map<string, string[]>();
  /** The groups around the last one, of which a batch often has several in turn; undefined once they may be others. */
  let last: { readonly id: string; readonly around: ReadonlySet<string> } | undefined;

  const add = (groupId: string, subgroupId: string): void => {
    const known = above.get(subgroupId);
    if (known === undefined) above.set(subgroupId, [groupId]);
    else known.push(groupId);
    if (last?.around.has(subgroupId) === true) last = undefined;
  };

  const groupsAround = (id: string): ReadonlySet<string> => {
    const around = new Set([id]);
    // A set yields what is added during the loop.
    for (const each of around) for (const group of above.get(each) ?? []) around.add(group);
    return around;
  };

  for (const { groupId, subgroupId } of nestings) add(groupId, subgroupId);
  return {
    add,
    isAround(groupId, other) {
      if (last?.id !== other) last = { id: other, around: groupsAround(other) };
      return last.around.has(groupId);
    },
  };
}
