import type { JsonValue } from "@bufbuild/protobuf";

declare global {
  interface JSON {
    /** Returns a value that JSON.stringify writes as the given text of a primitive value (ECMAScript 2026). */
    rawJSON(text: string): object;
  }
}

/** JSON.stringify writes the number -0 as `0`. */
const negativeZero = JSON.rawJSON("-0") as unknown as JsonValue;

/** Returns the JSON of a double: NaN, Infinity and -Infinity are strings, because they are not numbers in JSON. */
export function writeDouble(value: number): JsonValue {
  if (value === 0) return Object.is(value, -0) ? negativeZero : 0;
  return Number.isFinite(value) ? value : String(value);
}

/** Returns the JSON of a float, with the fewest digits that are read as the same float: `0.1` for 0.10000000149011612. */
export function writeFloat(value: number): JsonValue {
  return writeDouble(isShort(value) ? value : shortenFloat(value));
}

/** Checks whether the value is an integer of a float's 24 bits, which has no shorter text, or is not a finite float. */
function isShort(value: number): boolean {
  return (Number.isInteger(value) && Math.abs(value) <= 2 ** 24) || !Number.isFinite(Math.fround(value));
}

/** All floats from this one on have the same relative precision. */
const leastNormal = 2 ** -126;

/** Nine digits suffice for every float. All decimals of six digits are kept by normal ones. */
const mostDigits = 9;
const keptDigits = 6;

function shortenFloat(value: number): number {
  const float = Math.fround(value);
  const fewest = Math.abs(float) < leastNormal ? 1 : keptDigits;
  for (let digits = fewest; digits < mostDigits; digits++) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return Number(float.toPrecision(mostDigits));
}
