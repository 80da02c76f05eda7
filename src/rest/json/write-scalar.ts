import { type DescEnum, type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** Converts the representation of a value in protobuf-es to JSON. Throws Error if the value does not match the type. */
export type ValueWriter = (value: unknown) => JsonValue;

/** @param where the name of the field, for errors. */
export function compileScalarWriter(type: ScalarType, where: string): ValueWriter {
  const refuse = (value: unknown): never => {
    throw new Error(`cannot encode ${where} to JSON: got ${typeof value} for ${ScalarType[type]}`);
  };
  switch (type) {
    case ScalarType.STRING:
      return (value) => (typeof value === "string" ? value : refuse(value));
    case ScalarType.BOOL:
      return (value) => (typeof value === "boolean" ? value : refuse(value));
    case ScalarType.BYTES:
      return (value) => (value instanceof Uint8Array ? writeBytes(value) : refuse(value));
    case ScalarType.DOUBLE:
      return (value) => (typeof value === "number" ? writeDouble(value) : refuse(value));
    case ScalarType.FLOAT:
      return (value) => (typeof value === "number" ? writeFloat(value) : refuse(value));
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return (value) =>
        typeof value === "bigint" || typeof value === "string" || Number.isInteger(value)
          ? String(value)
          : refuse(value);
    default:
      return (value) => (typeof value === "number" ? value : refuse(value));
  }
}

/**
 * Compiles the writer of an enum. Of several names of a value, the first one is written. Undeclared values are written as numbers;
 * NullValue is written as null.
 */
export function compileEnumWriter(desc: DescEnum): ValueWriter {
  const isNull = desc.typeName === "google.protobuf.NullValue";
  const names = new Map(desc.values.toReversed().map((value) => [value.number, value.jsonName]));
  return (value) => {
    if (typeof value !== "number") throw new Error(`cannot encode ${desc.toString()} to JSON: got ${typeof value}`);
    return isNull ? null : (names.get(value) ?? value);
  };
}

/** Writes a google.protobuf.Struct that a field holds as plain JSON. A value that is not an object is written as `{}`. */
export function writeStruct(value: unknown): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, writeDynamic(member)]));
}

/** Writes a google.protobuf.Value that is held as plain JSON. */
export function writeDynamic(value: unknown): JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return writeDouble(value);
  if (Array.isArray(value)) return Array.from(value, writeDynamic);
  if (typeof value === "object") return writeStruct(value);
  throw new Error(`google.protobuf.Value cannot be ${typeof value === "number" ? value : `of type ${typeof value}`}`);
}

function writeBytes(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
}

declare global {
  interface JSON {
    /** Returns a value that JSON.stringify writes as the given text of a primitive value (ECMAScript 2026). Node.js 20 has none. */
    rawJSON?(text: string): object;
  }
}

/** JSON.stringify writes the number -0 as `0`. */
const negativeZero = rawJson("-0");

function rawJson(text: string): JsonValue {
  if (JSON.rawJSON !== undefined) return JSON.rawJSON(text) as unknown as JsonValue;
  throw new Error(`tenantry needs Node.js 22.18 or newer; this is ${process.version}`);
}

/** Returns the JSON of a double: NaN, Infinity and -Infinity are strings, because they are not numbers in JSON. */
function writeDouble(value: number): JsonValue {
  if (value === 0) return Object.is(value, -0) ? negativeZero : 0;
  return Number.isFinite(value) ? value : String(value);
}

/** Returns the JSON of a float, with the fewest digits that are read as the same float: `0.1` for 0.10000000149011612. */
function writeFloat(value: number): JsonValue {
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
