/** @returns undefined if an escape is malformed or the bytes are not UTF-8. `findBrokenEscape` returns the position. */
export function decodePercent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Decodes a path of several segments. Keeps `%2F` and `%2f` (http.proto, "Path template syntax"), so that a slash inside a
 * segment remains distinguishable from a separator.
 */
export function decodePercentKeepingSlashes(text: string): string | undefined {
  if (!text.includes("%")) return text;
  let decoded = "";
  let start = 0;
  for (let at = text.indexOf("%2"); at !== -1; at = text.indexOf("%2", at + 2)) {
    if (text[at + 2] !== "F" && text[at + 2] !== "f") continue;
    const part = decodePercent(text.slice(start, at));
    if (part === undefined) return undefined;
    decoded += part + text.slice(at, at + 3);
    start = at + 3;
  }
  const rest = decodePercent(text.slice(start));
  return rest === undefined ? undefined : decoded + rest;
}

/** Returns where and why `decodePercent` fails for `text`. The offset is in characters, starting at 0. */
export function findBrokenEscape(text: string): { offset: number; problem: string } {
  let at = text.indexOf("%");
  while (at !== -1) {
    let end = at;
    while (isEscape(text, end)) end += 3;
    if (end === at) return { offset: at, problem: `${quoteEscape(text, at)} is not "%" and two hexadecimal digits` };
    if (decodePercent(text.slice(at, end)) === undefined) {
      return { offset: at, problem: `${JSON.stringify(text.slice(at, Math.min(end, at + 12)))} is not UTF-8` };
    }
    at = text.indexOf("%", end);
  }
  return { offset: text.length, problem: "nothing is broken" };
}

function isEscape(text: string, at: number): boolean {
  return text[at] === "%" && isHex(text.charCodeAt(at + 1)) && isHex(text.charCodeAt(at + 2));
}

/** Checks whether a character code is a hexadecimal digit. Returns false for NaN, which is read past the end of a string. */
export function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

function quoteEscape(text: string, at: number): string {
  return JSON.stringify(text.slice(at, at + 3));
}
