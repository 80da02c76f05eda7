// Text of the service may be that of anybody. A terminal obeys control characters, and characters that change the direction of text make
// one thing look like another.

const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

/** Writes what a terminal would obey as `\u001b`. */
export function escapeText(text: string): string {
  return text.toWellFormed().replaceAll(unsafe, (character) => `\\u${codeOf(character)}`);
}

/** The same for text in which lines end. */
export function escapeLines(text: string): string {
  return text.split("\n").map(escapeText).join("\n");
}

/** Escapes the same in JSON, which means what it meant before. */
export function escapeJson(text: string): string {
  // What JSON.stringify leaves is in strings, apart from the ends of lines.
  return text.replaceAll(unsafe, (character) => (character === "\n" ? character : `\\u${codeOf(character)}`));
}

/** Reports whether text has what a terminal would obey. */
export function isUnsafe(text: string): boolean {
  return text.search(unsafe) !== -1;
}
