/** How many letters may differ: more in long names, but never so many that another name is meant. */
const maxDifference = 3;
const lettersPerDifference = 3;

/** How many names are returned. Names that differ in one letter, such as those of verbs, can be equally near. */
const maxNames = 3;

/**
 * Returns the names that a misspelt one most likely means, in their order: those with the fewest letters to insert, to leave out, to
 * replace, or to exchange with the next one. Case makes no difference. None if all differ too much. Takes time for the names of
 * about the same length only, so the text may be as long as callers like.
 */
export function nearestNames(text: string, names: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase();
  let least = Math.min(maxDifference, Math.max(1, Math.floor(wanted.length / lettersPerDifference)));
  let nearest: string[] = [];
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > least) continue;
    const difference = countDifferences(wanted, name.toLowerCase());
    if (difference < least) nearest = [];
    if (difference > least) continue;
    least = difference;
    nearest.push(name);
  }
  return nearest.slice(0, maxNames);
}

/**
 * Returns the distance of two texts by optimal string alignment: how many letters are inserted, left out, replaced, or exchanged with the
 * next one. The time grows with the product of their lengths.
 */
export function countDifferences(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const replaced = at(above, column - 1) + (isSame ? 0 : 1);
      const isExchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const exchanged = isExchanged ? at(before, column - 2) + 1 : Infinity;
      current.push(Math.min(replaced, at(above, column) + 1, at(current, column - 1) + 1, exchanged));
    }
    [before, above] = [above, current];
  }
  return at(above, other.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
