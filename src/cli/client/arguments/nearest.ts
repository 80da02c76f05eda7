import { countDifferences } from "../../../errors/nearest-names.ts";

/** Returns what a mistyped word was probably meant to be; undefined if nothing is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const folded = fold(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(folded.length / 3)) + 1;
  for (const each of known) {
    const other = fold(each);
    // What is only longer is near as well: `member` and `members`, `suspend` and `susp`.
    const starts = folded.length >= 3 && (other.startsWith(folded) || folded.startsWith(other));
    const distance = starts ? Math.min(1, Math.abs(other.length - folded.length)) : editDistance(folded, other);
    if (distance < bestDistance) [best, bestDistance] = [each, distance];
  }
  return best;
}

/** Returns ` (did you mean X?)`; empty if nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const found = nearest(word, known);
  return found === undefined ? "" : `; did you mean ${found}?`;
}

/** Makes `api-keys`, `api_keys` and `apiKeys` the same. */
export function fold(word: string): string {
  return word.replaceAll(/[-_]/g, "").toLowerCase();
}

/** Returns how many letters differ; infinitely many where nobody has mistyped one as the other. */
function editDistance(one: string, other: string): number {
  // Nobody mistypes what is longer, and the time grows with the square.
  if (Math.abs(one.length - other.length) > 3 || one.length > 64) return Infinity;
  return countDifferences(one, other);
}
