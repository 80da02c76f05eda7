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

/** Returns how many insertions, deletions, replacements and swaps of neighbours make one word of another. */
function editDistance(one: string, other: string): number {
  // Nobody mistypes what is longer, and the time grows with the square.
  if (Math.abs(one.length - other.length) > 3 || one.length > 64) return Infinity;
  let [beforePrevious, previous] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) least = Math.min(least, (beforePrevious[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [beforePrevious, previous] = [previous, row];
  }
  return previous[other.length] ?? Infinity;
}
