import type { JsonValue } from "@bufbuild/protobuf";
import { isUtf8 } from "node:buffer";
import { quote, RestError } from "../errors/rest-error.ts";
import { readKey } from "./read-key.ts";
import { mayMisreadKey, type Misread, replaceMisread, restoreMisread } from "./misread-json.ts";
import { findNumberText } from "./number-text.ts";

/**
 * Decodes bytes as UTF-8 and removes a byte order mark.
 *
 * @throws RestError BODY_MALFORMED with the position of the error in bytes, starting at 0.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw new RestError("BODY_MALFORMED", `the body is not UTF-8 near byte ${findBrokenUtf8(bytes)}`);
  }
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    ? bytes.toString("utf8", 3)
    : bytes.toString("utf8");
}

/** Finds the length of the longest prefix that is valid UTF-8, by bisection. */
function findBrokenUtf8(bytes: Buffer): number {
  const decodes = (length: number): boolean => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (decodes(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/**
 * Parses JSON. Rejects JSON that is nested deeper than `maxDepth` and objects with duplicate keys, of which JSON.parse
 * would keep only the last. Numbers that their double does not say exactly are a NumberText in the returned value.
 *
 * Keys with escapes are read one by one, which takes a hundred times as long, so there is a limit on them.
 *
 * If there is a duplicate key, the text has more keys than the parsed value. The fast path therefore only counts keys; the
 * text is examined in detail only to find the position of an error.
 *
 * @param subject the subject of the errors' sentences.
 * @throws RestError BODY_MALFORMED
 */
export function parseJson(text: string, maxDepth: number, subject = "the body"): JsonValue {
  const misread: Misread[] = [];
  const keys = scan(text, maxDepth, text.includes("\\"), misread, subject);
  if (keys === undefined) checkNestingAndKeys(text, maxDepth, subject);
  const value = parse(text, misread, maxDepth, subject);
  if (countKeys(value) !== keys) checkNestingAndKeys(text, maxDepth, subject);
  if (misread.length === 0) return value;
  const isKeyMisread = misread.some((part) => typeof part.value === "string");
  if (isKeyMisread) checkNestingAndKeys(text, maxDepth, subject);
  return restoreMisread(value, misread);
}

function parse(text: string, misread: readonly Misread[], maxDepth: number, subject: string): JsonValue {
  try {
    return JSON.parse(misread.length === 0 ? text : replaceMisread(text, misread)) as JsonValue;
  } catch (error) {
    checkNestingAndKeys(text, maxDepth, subject);
    // The error in the text that was given has the right position.
    if (misread.length > 0) return parse(text, [], maxDepth, subject);
    throw new RestError("BODY_MALFORMED", `${subject} is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

/**
 * Counts the keys in JSON text, by the colons outside of strings. Adds the numbers that need a NumberText and the keys that
 * have escapes to `misread`.
 *
 * @param hasEscapes whether the text has a backslash. It is not looked up here, because V8 moves the search into the loop that uses its
 *   result, since it has no side effects: a body of 500 kB then takes seconds.
 * @returns undefined if the nesting is too deep.
 * @throws RestError BODY_MALFORMED for too many keys with escapes.
 */
function scan(
  text: string,
  maxDepth: number,
  hasEscapes: boolean,
  misread: Misread[],
  subject: string,
): number | undefined {
  let keys = 0;
  let escapedKeys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    switch (unit) {
      case 0x22: {
        const end = endOfString(text, at);
        const key = hasEscapes ? findMisreadKey(text, at, end) : undefined;
        if (key !== undefined) {
          if (++escapedKeys > maxEscapedKeys) throw tooManyEscapedKeys(subject, at);
          misread.push({ at, length: end + 1 - at, value: key });
        }
        at = end;
        break;
      }
      case 0x3a: // :
        keys++;
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > maxDepth) return undefined;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      default:
        if (isDigit(unit) || unit === 0x2d) {
          const end = endOfNumber(text, at);
          const number = isSuspect(text, at, end) ? findNumberText(text.slice(at, end)) : undefined;
          if (number !== undefined) misread.push({ at, length: end - at, value: number });
          at = end - 1;
        }
    }
  }
  return keys;
}

const maxEscapedKeys = 2_048;

function tooManyEscapedKeys(subject: string, at: number): RestError {
  const message = `${subject} has more than ${maxEscapedKeys} keys with escapes, the next at character ${at}`;
  return new RestError("BODY_MALFORMED", message);
}

/** Returns the key at `start` if JSON.parse may misread it. */
function findMisreadKey(text: string, start: number, end: number): string | undefined {
  const quoted = text.slice(start, end + 1);
  if (!mayMisreadKey(quoted)) return undefined;
  let next = end + 1;
  while (isWhiteSpace(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === 0x3a ? readKey(quoted) : undefined;
}

function isWhiteSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Returns the offset after the last character that a number can have. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (;;) {
    const unit = text.charCodeAt(end);
    const isOfNumber = isDigit(unit) || unit === 0x2e || isExponentSign(unit) || isSign(unit);
    if (!isOfNumber) return end;
    end++;
  }
}

/** The longest number without an exponent that is certainly less than 2^53. */
const longestSafe = 15;

function isSuspect(text: string, start: number, end: number): boolean {
  if (end - start > longestSafe) return true;
  for (let at = start + 1; at < end; at++) if (isExponentSign(text.charCodeAt(at))) return true;
  return false;
}

function isExponentSign(unit: number): boolean {
  return unit === 0x65 || unit === 0x45;
}

function isSign(unit: number): boolean {
  return unit === 0x2d || unit === 0x2b;
}

function countKeys(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") keys += countKeys(item);
    return keys;
  }
  for (const key in value) {
    keys++;
    const member = value[key];
    if (typeof member === "object") keys += countKeys(member);
  }
  return keys;
}

/**
 * Checks nesting and duplicate keys in one pass. The text need not be valid JSON; other errors are left to the parser.
 *
 * @throws RestError BODY_MALFORMED at the first duplicate key or at the first bracket that is nested too deep.
 */
function checkNestingAndKeys(text: string, maxDepth: number, subject: string): void {
  /** The keys of each open object, outermost first; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let keyMayFollow = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        if (open.length >= maxDepth) {
          throw new RestError("BODY_MALFORMED", `${subject} nests deeper than ${maxDepth} levels at character ${at}`);
        }
        keyMayFollow = text.charCodeAt(at) === 0x7b;
        open.push(keyMayFollow ? new Set() : undefined);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        keyMayFollow = false;
        break;
      case 0x2c: // ,
        keyMayFollow = open.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (keyMayFollow) {
          const keys = open.at(-1);
          const key = readKey(text.slice(at, end + 1));
          if (keys?.has(key)) {
            throw new RestError("BODY_MALFORMED", `${subject} gives the key ${quote(key)} twice at character ${at}`);
          }
          keys?.add(key);
        }
        keyMayFollow = false;
        at = end;
        break;
      }
    }
  }
}

/** Returns the offset of the closing quote of the string at `start`; the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
