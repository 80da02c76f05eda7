/** Whether a text has all words of another one. Says of what is at hand what the service says of everything. */
export function matchesWords(text: string, words: string): boolean {
  const has = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => has.includes(word));
}
