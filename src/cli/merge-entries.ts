import { nameKey } from "./name-key.ts";
import type { Fail } from "./read-shape.ts";

/**
 * Makes one entry of all that have the same name: an admin may be listed among the members too. Each says what the
 * others leave open; two that say different things are a problem. The first one's spelling of the name counts.
 */
export function mergeEntries<Entry extends Readonly<Record<keyof Entry, string>> & { readonly name: string }>(
  given: readonly { readonly place: string; readonly entry: Entry }[],
  fail: Fail,
): { entries: Entry[]; repeated: number } {
  const merged = new Map<string, { place: string; entry: Entry }>();
  let repeated = 0;
  for (const { place, entry } of given) {
    // Not there, or not a string; it has been reported.
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
      fail(place, `says something else than ${earlier.place}, which has the same name`);
    }
  }
  return joined;
}
