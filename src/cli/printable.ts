const longest = 100;

/** Makes text from a file safe for a terminal: replaces unprintable characters by their code points and shortens long text. */
export function printable(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return cut.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
