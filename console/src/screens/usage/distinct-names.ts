import { nameOf } from "../../calls/paths.ts";
import { usageTexts } from "../../texts/usage-texts.ts";

/** Returns what people call what is at a path. */
export type NameOf = (path: string) => string;

/** Returns names that are all different: what is deleted has an id in the place of a name, and what two have as a name has its path behind it. */
export function toDistinctNames(paths: readonly string[], displayNameOf: NameOf): ReadonlyMap<string, string> {
  const names = paths.map((path) => [path, plainName(path, displayNameOf)] as const);
  const counts = new Map<string, number>();
  for (const [, name] of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(names.map(([path, name]) => [path, counts.get(name) === 1 ? name : `${name} (${path.slice(1)})`]));
}

function plainName(path: string, displayNameOf: NameOf): string {
  return isDeleted(path) ? usageTexts.deleted(nameOf(path).slice(-idEnd)) : displayNameOf(path);
}

/** So much of an id tells two apart. */
const idEnd = 8;

export const isDeleted = (path: string): boolean => nameOf(path).startsWith("@");
