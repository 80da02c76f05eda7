const longest = 100;

/** Text from a file, safe to show on a terminal: what cannot be seen is written as its code point, long text is cut. */
export function printable(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return cut.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
