import { type Visibility, isUnlimited } from "../../access/evaluation/visibility.ts";
import type { PathLevel } from "../../database/match-reference.ts";
import type { LookupInTransaction, PathLookup } from "../../database/path-lookup.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { visibilityCondition } from "./visibility-condition.ts";

/** Looks up rows by path, as far as a read shows them. One that it does not show is like one that does not exist. */
export interface VisibleLookup<Row> extends LookupInTransaction<Row> {
  (path: readonly Reference[], visible: Visibility): Promise<Row | undefined>;
  readonly each: (paths: readonly (readonly Reference[])[], visible: Visibility) => Promise<(Row | undefined)[]>;
}

/** @param containers the levels of the path that contain the row, from the top. */
export function createVisibleLookup<Row>(
  lookup: PathLookup<Row>,
  containers: readonly PathLevel[],
): VisibleLookup<Row> {
  const each: VisibleLookup<Row>["each"] = (paths, visible) => {
    const condition = isUnlimited(visible) ? undefined : visibilityCondition(visible, containers);
    if (condition !== undefined) return lookup.where(condition, paths);
    return Promise.all(paths.map((path) => lookup(path)));
  };
  const one = (path: readonly Reference[], visible: Visibility): Promise<Row | undefined> =>
    isUnlimited(visible) ? lookup(path) : each([path], visible).then(([row]) => row);
  return Object.assign(one, { each, all: lookup.all, allWithNext: lookup.allWithNext });
}
