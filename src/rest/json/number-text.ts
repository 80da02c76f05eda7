import { ScalarType } from "@bufbuild/protobuf";

/**
 * A number of JSON whose text says more than its double: an integer beyond 2^53, a fraction that rounds to an integer, or
 * a number that no double can hold. `parseJson` returns it in place of the number, so that no field takes a rounded value.
 */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The grammar of numbers in JSON: no plus sign, no leading zeros, digits on both sides of the point. */
const jsonNumber = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** Returns a NumberText if the double of the number is an integer without being the number, or is not finite. */
export function findNumberText(text: string): NumberText | undefined {
  if (!jsonNumber.test(text)) return undefined;
  const double = Number(text);
  const isHeld = Number.isSafeInteger(double)
    ? parseWholeNumber(text) === BigInt(double)
    : Number.isFinite(double) && !Number.isInteger(double);
  return isHeld ? undefined : new NumberText(text);
}

/** The number of digits of the largest 64-bit integers. */
const mostDigits = 20;

/**
 * Parses a whole number in the grammar of JSON, such as `12`, `-1.0` or `1e2`.
 *
 * @returns undefined for other text, fractions, and numbers of more than 20 digits.
 */
export function parseWholeNumber(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = jsonNumber.exec(text) ?? [];
  if (whole === "") return undefined;
  const written = whole + fraction;
  let start = 0;
  let end = written.length;
  while (start < end && written[start] === "0") start++;
  if (start === end) return 0n;
  while (written[end - 1] === "0") end--;
  const zeros = Number(exponent) - fraction.length + (written.length - end);
  if (zeros < 0 || end - start + zeros > mostDigits) return undefined;
  return BigInt(sign + written.slice(start, end) + "0".repeat(zeros));
}

/** Parses `12` or `-1`, without exponents or fractions. Returns undefined for other text. */
export function parsePlainInteger(text: string): bigint | undefined {
  return /^-?(0|[1-9]\d{0,19})$/.test(text) ? BigInt(text) : undefined;
}

/** Parses a number in the grammar of JSON, or `NaN`, `Infinity` or `-Infinity`. Returns undefined for what no `type` holds. */
export function parseFloating(text: string, type: ScalarType.DOUBLE | ScalarType.FLOAT): number | undefined {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") return Number(text);
  if (!jsonNumber.test(text)) return undefined;
  const value = Number(text);
  if (type === ScalarType.FLOAT) return toFloat(value) ?? roundToLargestFloat(text, value);
  return Number.isFinite(value) ? value : undefined;
}

const largestFloat = (2 - 2 ** -23) * 2 ** 127;

/** Half a step above the largest float: the least number that rounds to infinity. It is a double, and an integer of 39 digits. */
const beyondFloats = (2 - 2 ** -24) * 2 ** 127;
const beyondFloatsDigits = String(BigInt(beyondFloats));

/** Returns the largest float, with its sign, for a number that is below `beyondFloats` and whose double is not. */
function roundToLargestFloat(text: string, double: number): number | undefined {
  if (Math.abs(double) !== beyondFloats) return undefined;
  // All numbers of this double have as many digits before the point.
  const digits = text
    .replace(/[eE].*/, "")
    .replaceAll(/[-.]/g, "")
    .replace(/^0+/, "");
  const isBelow = digits.padEnd(beyondFloatsDigits.length, "0") < beyondFloatsDigits;
  return isBelow ? Math.sign(double) * largestFloat : undefined;
}

/**
 * Returns a number as the value of a float, which keeps its double precision: undefined if it rounds to infinity, and the
 * largest float if it rounds to that, which its shortest text does.
 */
export function toFloat(value: number): number | undefined {
  if (Math.abs(value) <= largestFloat) return value;
  const rounded = Math.fround(value);
  return Number.isFinite(rounded) ? rounded : undefined;
}

interface IntegerRange {
  readonly least: bigint;
  readonly most: bigint;
}

const int32: IntegerRange = { least: -(2n ** 31n), most: 2n ** 31n - 1n };
const uint32: IntegerRange = { least: 0n, most: 2n ** 32n - 1n };
const int64: IntegerRange = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const uint64: IntegerRange = { least: 0n, most: 2n ** 64n - 1n };

const ranges: ReadonlyMap<ScalarType, IntegerRange> = new Map([
  [ScalarType.INT32, int32],
  [ScalarType.SINT32, int32],
  [ScalarType.SFIXED32, int32],
  [ScalarType.UINT32, uint32],
  [ScalarType.FIXED32, uint32],
  [ScalarType.INT64, int64],
  [ScalarType.SINT64, int64],
  [ScalarType.SFIXED64, int64],
  [ScalarType.UINT64, uint64],
  [ScalarType.FIXED64, uint64],
]);

export function isInRange(type: ScalarType, value: bigint): boolean {
  const range = ranges.get(type);
  return range !== undefined && value >= range.least && value <= range.most;
}

/** Returns the key of a map entry in its only spelling: `-0` is `0`. Returns undefined if it is not a key of the type. */
export function parseMapKey(type: ScalarType, text: string): string | undefined {
  if (type === ScalarType.STRING) return text.isWellFormed() ? text : undefined;
  if (type === ScalarType.BOOL) return text === "true" || text === "false" ? text : undefined;
  const value = parsePlainInteger(text);
  return value !== undefined && isInRange(type, value) ? String(value) : undefined;
}
