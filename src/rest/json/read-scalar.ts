import { type DescEnum, type DescMessage, fromJson, type JsonValue, protoInt64, ScalarType } from "@bufbuild/protobuf";
import {
  BoolValueSchema,
  BytesValueSchema,
  DoubleValueSchema,
  FloatValueSchema,
  Int32ValueSchema,
  Int64ValueSchema,
  StringValueSchema,
  UInt32ValueSchema,
  UInt64ValueSchema,
} from "@bufbuild/protobuf/wkt";

/** Converts a JSON value to its representation in protobuf-es. Throws Error if the value does not match the type. */
export type ValueReader = (json: JsonValue) => unknown;

/** Marks an enum value of an unknown name that is ignored. */
export const ignored = Symbol("ignored");

/**
 * Compiles the reader of a scalar. The caller handles null. The usual forms are read directly; the other forms that
 * protobuf's JSON allows, such as numbers in strings, are read by protobuf-es with the wrapper message of the type.
 *
 * @param isLongAsString whether the field holds 64-bit integers as strings (jstype), which keep their spelling.
 */
export function compileScalarReader(type: ScalarType, isLongAsString: boolean): ValueReader {
  switch (type) {
    case ScalarType.STRING: {
      const readOther = compileReference(StringValueSchema);
      return (json) => (typeof json === "string" && json.isWellFormed() ? json : readOther(json));
    }
    case ScalarType.BOOL: {
      const readOther = compileReference(BoolValueSchema);
      return (json) => (typeof json === "boolean" ? json : readOther(json));
    }
    case ScalarType.BYTES:
      return compileReference(BytesValueSchema);
    case ScalarType.DOUBLE: {
      const readOther = compileReference(DoubleValueSchema);
      return (json) => (Number.isFinite(json) ? json : readOther(json));
    }
    case ScalarType.FLOAT: {
      const readOther = compileReference(FloatValueSchema);
      // A float keeps its double precision, but must not round to infinity.
      return (json) => (typeof json === "number" && Number.isFinite(Math.fround(json)) ? json : readOther(json));
    }
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32: {
      const readOther = compileReference(Int32ValueSchema);
      return (json) => (isInt32(json) ? json : readOther(json));
    }
    case ScalarType.UINT32:
    case ScalarType.FIXED32: {
      const readOther = compileReference(UInt32ValueSchema);
      return (json) => (typeof json === "number" && json >>> 0 === json ? json : readOther(json));
    }
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return compileLongReader((json) => protoInt64.parse(json), Int64ValueSchema, isLongAsString);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return compileLongReader((json) => protoInt64.uParse(json), UInt64ValueSchema, isLongAsString);
  }
}

/**
 * The maximum length of the text of a 64-bit integer; valid ones are shorter. The time to parse an integer grows with the
 * square of its length.
 */
const mostDigits = 100;

/** Checks whether a JSON value or map key is short enough to be parsed as a 64-bit integer. */
export function isShortEnoughForLong(json: JsonValue): boolean {
  return typeof json !== "string" || json.length <= mostDigits;
}

/** Checks whether a scalar type is a 64-bit integer. */
export function isLong(type: ScalarType | undefined): boolean {
  return type !== undefined && longs.has(type);
}

const longs: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

function compileLongReader(
  parse: (json: string | number) => unknown,
  wrapper: DescMessage,
  isLongAsString: boolean,
): ValueReader {
  const readOther = compileReference(wrapper);
  return (json) => {
    if (typeof json !== "number" && (typeof json !== "string" || json === "")) return readOther(json);
    if (!isShortEnoughForLong(json)) throw new Error("cannot decode a 64-bit integer from JSON: it is too long");
    const value = parse(json);
    return isLongAsString ? String(json) : value;
  };
}

function compileReference(wrapper: DescMessage): ValueReader {
  return (json) => (fromJson(wrapper, json) as unknown as { readonly value: unknown }).value;
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
