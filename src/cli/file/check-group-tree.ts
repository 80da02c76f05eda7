import { nameKey } from "../../org-files/names/name-key.ts";
import { printable } from "../printable.ts";
import type { Fail } from "./read-shape.ts";

interface Group {
  readonly name: string;
  readonly parent: string;
}

const longestCycleShown = 10;

/** Checks that every group has a unique name and an existing parent, and that the parents form no cycle. */
export function checkGroupTree(groups: readonly Group[], fail: Fail): void {
  const positions = new Map<string, number>();
  groups.forEach(({ name }, position) => {
    const earlier = positions.get(nameKey(name));
    if (earlier === undefined) positions.set(nameKey(name), position);
    else if (name !== "") {
      fail(`groups[${position}].name`, `is also the name of groups[${earlier}]; names are compared without case`);
    }
  });
  const parents = groups.map(({ parent }, position) => {
    if (parent === "") return undefined;
    const found = positions.get(nameKey(parent));
    if (found === undefined) fail(`groups[${position}].parent`, `there is no group "${printable(parent)}" in the file`);
    return found;
  });
  for (const cycle of findCycles(parents)) {
    const names = [...cycle, cycle[0]].map((position) => printable(groups[position ?? 0]?.name ?? ""));
    const shown = names.length > longestCycleShown ? [...names.slice(0, longestCycleShown), "…"] : names;
    fail(`groups[${cycle[0]}].parent`, `closes a cycle: ${shown.join(" → ")}`);
  }
}

/** Finds cycles by following each group to its root, or to a group that was visited before. */
function findCycles(parents: readonly (number | undefined)[]): number[][] {
  const cycles: number[][] = [];
  const done = new Set<number>();
  for (const start of parents.keys()) {
    const trail = new Set<number>();
    let position: number | undefined = start;
    while (position !== undefined && !done.has(position) && !trail.has(position)) {
      trail.add(position);
      position = parents[position];
    }
    const isCycle = position !== undefined && trail.has(position);
    if (isCycle) cycles.push([...trail].slice([...trail].indexOf(position ?? 0)));
    for (const passed of trail) done.add(passed);
  }
  return cycles;
}
