import { nameKey } from "../../org-files/names/name-key.ts";
import type { Fail } from "./read-shape.ts";

/**
 * Merges entries with the same name (an admin may also be in the list of members). Each entry may set fields that the others
 * leave out; different values of a field are a problem. The spelling of the first name is kept.
 */
export function mergeEntries<Entry extends Readonly<Record<keyof Entry, string>> & { readonly name: string }>(
  given: readonly { readonly place: string; readonly entry: Entry }[],
  fail: Fail,
): { entries: Entry[]; repeated: number } {
  const merged = new Map<string, { place: string; entry: Entry }>();
  let repeated = 0;
  for (const { place, entry } of given) {
    // The name is missing or not a string, which has been reported.
    if (entry.name === "") continue;
    const key = nameKey(entry.name);
    const earlier = merged.get(key);
    if (earlier !== undefined) repeated++;
    merged.set(key, earlier === undefined ? { place, entry } : { place, entry: join(earlier, { place, entry }, fail) });
  }
  return { entries: Array.from(merged.values(), ({ entry }) => entry), repeated };
}

function join<Entry extends Readonly<Record<keyof Entry, string>>>(
  earlier: { readonly place: string; readonly entry: Entry },
  { place, entry }: { readonly place: string; readonly entry: Entry },
  fail: Fail,
): Entry {
  const joined = { ...earlier.entry };
  for (const field of Object.keys(entry) as (keyof Entry)[]) {
    if (joined[field] === "") joined[field] = entry[field];
    else if (field !== "name" && entry[field] !== "" && entry[field] !== joined[field]) {
      fail(place, `conflicts with ${earlier.place}, which has the same name`);
    }
  }
  return joined;
}
