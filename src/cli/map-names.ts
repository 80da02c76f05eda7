import { createHash } from "node:crypto";
import { isName } from "../paths/resource-path.ts";
import { nameKey } from "./name-key.ts";

const longestName = 64;
const hashLength = 8;

/**
 * Gives each of some siblings a name that the API takes, a different one each: what is a name already is kept, for all
 * others every run of characters that names do not have becomes a dash. Where that is not a name, or not the only one
 * of its kind, a hash of the original goes after it. The result depends on which originals there are, not on their
 * order.
 *
 * @returns the names by `nameKey` of their originals.
 */
export function mapNames(originals: Iterable<string>): ReadonlyMap<string, string> {
  // How many hashes have been tried; hardly ever more than one.
  const tries = new Map(Array.from(originals, (original) => [nameKey(original), 0]));
  for (;;) {
    const claims = Map.groupBy(tries, ([key, count]) => claimedName(key, count));
    const contested = [...claims].filter(([name, claimants]) => claimants.length > 1 || !isName(name));
    if (contested.length === 0) return new Map([...tries].map(([key, count]) => [key, claimedName(key, count)]));
    for (const [key, count] of contested.flatMap(([, claimants]) => claimants)) {
      if (!isName(key)) tries.set(key, count + 1);
    }
  }
}

function claimedName(key: string, tries: number): string {
  if (isName(key)) return key;
  if (tries === 0) return simplify(key, longestName);
  const hash = createHash("sha256").update(`${tries} ${key}`).digest("hex").slice(0, hashLength);
  const start = simplify(key, longestName - hashLength - 1);
  return start === "" ? hash : `${start}-${hash}`;
}

function simplify(key: string, length: number): string {
  return key
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, length)
    .replace(/-$/, "");
}
