export function plural(noun: string): string {
  return noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** Returns a number with its noun: `1 member`, `2 members`. */
export function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : plural(noun)}`;
}
