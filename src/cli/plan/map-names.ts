import { createHash } from "node:crypto";
import { isName } from "../../paths/parse-path.ts";
import { nameKey } from "../file/name-key.ts";

const longestName = 64;
const hashLength = 8;

/**
 * Maps the names of siblings to distinct names that the API accepts. A valid name is kept. In any other, each run of invalid
 * characters becomes a dash. If the result is not valid or not unique, a hash of the original is appended. The result depends
 * on the set of originals, but not on their order.
 *
 * @returns the names by `nameKey` of their originals.
 */
export function mapNames(originals: Iterable<string>): ReadonlyMap<string, string> {
  // The number of hashes tried for each name, which is rarely more than one.
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
