// JSON.parse rounds numbers, and V8 mistakes keys: once an object `{"f":0,"\\\\":0}` was parsed anywhere in the process, the second key
// of `{"f":0,"\\"":0}` is read as a backslash (https://github.com/nodejs/node/issues/63785). Both are replaced in the text by what is
// read exactly, and restored in the value. A reviver of JSON.parse would see the text too, but takes eight times as long.
import type { JsonValue } from "@bufbuild/protobuf";
import { NumberText } from "./number-text.ts";
import { setOwn } from "./set-own.ts";

/** A part of JSON text that JSON.parse may misread: a number, or a key with its quotes. */
export interface Misread {
  readonly at: number;
  readonly length: number;
  readonly value: NumberText | string;
}

/** The least number that stands for a NumberText. All numbers of JSON that are as large are such numbers. */
const firstStandIn = 2 ** 53;

/** Begins each key that stands for another. Keys that begin with it are replaced themselves. */
const keyMark = "\ue000";

/** Checks whether a key, with its quotes, needs to be replaced in text that has escapes: V8 mistakes no key without them. */
export function mayMisreadKey(quoted: string): boolean {
  return quoted.includes("\\") || quoted.startsWith(keyMark, 1);
}

/** Replaces each part by a number or a key that says its index. */
export function replaceMisread(text: string, misread: readonly Misread[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const [index, { at, length, value }] of misread.entries()) {
    const isNumber = value instanceof NumberText;
    parts.push(text.slice(end, at), isNumber ? String(firstStandIn + 2 * index) : `"${keyMark}${index}"`);
    end = at + length;
  }
  parts.push(text.slice(end));
  return parts.join("");
}

/** Restores the numbers, each as a NumberText, and the keys in the parsed value. */
export function restoreMisread(value: JsonValue, misread: readonly Misread[]): JsonValue {
  if (typeof value === "number" && value >= firstStandIn) {
    return misread[(value - firstStandIn) / 2]?.value as unknown as JsonValue;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => restoreMisread(item, misread));
  const restored: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = key.startsWith(keyMark) ? misread[Number(key.slice(1))]?.value : undefined;
    setOwn(restored, typeof name === "string" ? name : key, restoreMisread(member, misread));
  }
  return restored;
}
