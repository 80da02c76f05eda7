import { type DescEnum, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { quote } from "../errors/rest-error.ts";
import { isInRange, NumberText, parseFloating, parseWholeNumber, toFloat } from "./number-text.ts";
import { parseBase64 } from "./parse-base64.ts";
import { RefusedValue } from "./refused-value.ts";

/** Converts a JSON value to its representation in protobuf-es. Throws Error if the value does not match the type. */
export type ValueReader = (json: JsonValue) => unknown;

/** Marks an enum value of an unknown name that is ignored. */
export const ignored = Symbol("ignored");

/**
 * Compiles the reader of a scalar. The caller handles null. Numbers may be in strings.
 *
 * @param isLongAsString whether the field holds 64-bit integers as strings (jstype).
 */
export function compileScalarReader(type: ScalarType, isLongAsString: boolean): ValueReader {
  switch (type) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return (json) => (typeof json === "boolean" ? json : refuse(json, type));
    case ScalarType.BYTES:
      return (json) => (typeof json === "string" ? parseBase64(json) : undefined) ?? refuse(json, type);
    case ScalarType.DOUBLE:
      return (json) => (Number.isFinite(json) ? json : readFloating(json, type));
    case ScalarType.FLOAT:
      return (json) => (typeof json === "number" ? toFloat(json) : undefined) ?? readFloating(json, type);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return (json) => (isInt32(json) ? json : Number(readInteger(json, type)));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (json) => (typeof json === "number" && json >>> 0 === json ? json : Number(readInteger(json, type)));
    default:
      return isLongAsString ? (json) => String(readInteger(json, type)) : (json) => readInteger(json, type);
  }
}

function readString(json: JsonValue): string {
  if (typeof json !== "string") return refuse(json, ScalarType.STRING);
  if (json.isWellFormed()) return json;
  throw new RefusedValue(`must be a string of valid Unicode, got ${quote(json)}`);
}

function readFloating(json: JsonValue, type: ScalarType.DOUBLE | ScalarType.FLOAT): number {
  const text = typeof json === "string" ? json : json instanceof NumberText ? json.text : undefined;
  return (text === undefined ? undefined : parseFloating(text, type)) ?? refuse(json, type);
}

function readInteger(json: JsonValue, type: ScalarType): bigint {
  const value = toWholeNumber(json);
  return value !== undefined && isInRange(type, value) ? value : refuse(json, type);
}

function toWholeNumber(json: JsonValue): bigint | undefined {
  if (typeof json === "number") return Number.isInteger(json) ? BigInt(json) : undefined;
  if (typeof json === "string") return parseWholeNumber(json);
  return json instanceof NumberText ? parseWholeNumber(json.text) : undefined;
}

function refuse(json: JsonValue, type: ScalarType): never {
  throw new Error(`cannot decode ${ScalarType[type]} from JSON: got ${typeof json}`);
}

/** Compiles the reader of an enum. It accepts names and numbers; null is the first value. */
export function compileEnumReader(desc: DescEnum, ignoreUnknown: boolean): ValueReader {
  // Proto names take precedence over JSON names.
  const byName = new Map([
    ...desc.values.map((value) => [value.jsonName, value.number] as const),
    ...desc.values.map((value) => [value.name, value.number] as const),
  ]);
  const declared = new Set(byName.values());
  const first = desc.values[0]?.number;
  return (json) => {
    if (typeof json === "string") {
      const number = byName.get(json);
      if (number !== undefined) return number;
      if (ignoreUnknown) return ignored;
    } else if (json === null) return first;
    else if (isInt32(json) && (desc.open || declared.has(json))) return json;
    throw new Error(`cannot decode ${desc.toString()} from JSON: no such value`);
  };
}

function isInt32(json: JsonValue): json is number {
  return typeof json === "number" && (json | 0) === json;
}
