import { errorAt, quote } from "./error-at.ts";
import type { Value } from "./syntax-tree.ts";

type Keyword = "AND" | "OR" | "NOT";

/** The position of a value. On the right of a comparator, a text may contain colons, as in `12:00:00`. */
export type ValuePlace = "left" | "right";

/** Scans the text of a filter. White space is spaces, tabs and line breaks. */
export interface Scanner {
  column(): number;
  isAtEnd(): boolean;
  /** Whether the previous character is white space, or the scanner is at the start. */
  isSpaced(): boolean;
  skipSpace(): void;
  startsWith(expected: string): boolean;
  /** Whether the next characters are a minus sign and a digit. */
  isNegativeNumber(): boolean;
  /** Consumes `expected` if it is next. Returns whether it was. */
  accept(expected: string): boolean;
  /** Returns the keyword that is next, if it is a whole text. */
  keyword(): Keyword | undefined;
  /** Reads a TEXT or a STRING. */
  readValue(place: ValuePlace): Value;
  /** Describes the next token, for an error message. */
  describeNext(): string;
  fail(problem: string, column?: number): never;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

export function createScanner(text: string): Scanner {
  let at = 0;

  const columnOf = createColumns(text);

  function fail(problem: string, column = columnOf(at)): never {
    throw errorAt("filter", column, problem);
  }

  /** Returns the index after the text that starts here. An escaped character does not end it. */
  function endOfText(place: ValuePlace): number {
    let end = at;
    while (end < text.length && !endsText(text, end, place)) end += text[end] === "\\" ? 2 : 1;
    return Math.min(end, text.length);
  }

  function readEscape(): string {
    const start = at;
    at++;
    const character = text[at] ?? "";
    at++;
    if (character !== "" && `\\"'*`.includes(character)) return character;
    const control = Object.hasOwn(escapes, character) ? escapes[character] : undefined;
    if (control !== undefined) return control;
    const digits = text.slice(at, at + 4);
    if (character === "u" && /^[0-9a-fA-F]{4}$/.test(digits)) {
      at += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    return fail(
      String.raw`expected one of the escapes \\ \" \' \* \n \r \t \uXXXX, got ${quote(text.slice(start, at))}`,
      columnOf(start),
    );
  }

  function readParts(isEnd: () => boolean): string[] {
    const start = at;
    const parts = [""];
    while (at < text.length && !isEnd()) {
      if (text[at] === "*") {
        parts.push("");
        at++;
      } else {
        parts.push((parts.pop() ?? "") + (text[at] === "\\" ? readEscape() : text[at++]));
      }
    }
    // PostgreSQL texts cannot contain NUL, and UTF-8 cannot encode a lone surrogate.
    if (parts.some((part) => part.includes("\0") || !part.isWellFormed())) {
      fail("a value must be Unicode text without NUL", columnOf(start));
    }
    return parts;
  }

  function readString(): string[] {
    const column = columnOf(at);
    const mark = text[at++];
    const parts = readParts(() => text[at] === mark);
    if (text[at] !== mark) fail(`the string that starts here has no closing ${mark}`, column);
    at++;
    return parts;
  }

  return {
    column: () => columnOf(at),
    isAtEnd: () => at === text.length,
    isSpaced: () => at === 0 || isSpace(text[at - 1]),
    skipSpace() {
      while (isSpace(text[at])) at++;
    },
    startsWith: (expected) => text.startsWith(expected, at),
    isNegativeNumber: () => text[at] === "-" && /^\d$/.test(text[at + 1] ?? ""),
    accept(expected) {
      if (!text.startsWith(expected, at)) return false;
      at += expected.length;
      return true;
    },
    keyword() {
      const next = text.slice(at, endOfText("left"));
      return next === "AND" || next === "OR" || next === "NOT" ? next : undefined;
    },
    readValue(place) {
      const column = columnOf(at);
      const quoted = text[at] === '"' || text[at] === "'";
      const parts = quoted ? readString() : readParts(() => endsText(text, at, place));
      return { parts, quoted, column };
    },
    describeNext() {
      if (at === text.length) return "the end";
      const end = Math.max(endOfText("left"), at + 1);
      return quote(text.slice(at, end));
    },
    fail,
  };
}

/** Returns the column of an index. Counts from the last index it was called with, which is usually close. */
function createColumns(text: string): (index: number) => number {
  let [counted, column] = [0, 1];
  return (index) => {
    if (index < counted) [counted, column] = [0, 1];
    for (; counted < index; counted++) {
      // A low surrogate is not a character of its own.
      if ((text.charCodeAt(counted) & 0xfc00) !== 0xdc00) column++;
    }
    return column;
  };
}

function endsText(text: string, at: number, place: ValuePlace): boolean {
  const character = text[at] ?? "";
  if (character === ":") return place === "left";
  if (character === "!") return text[at + 1] === "=";
  return isSpace(character) || "().,=<>".includes(character);
}

function isSpace(character: string | undefined): boolean {
  return character === " " || character === "\t" || character === "\n" || character === "\r";
}
