import {
  create,
  type DescEnum,
  type DescField,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { DescMessage } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { parseJson } from "../json/parse-json.ts";
import { misreadCheck } from "../json/misread-text.ts";
import { isWrapper } from "./describe-type.ts";

/** Parses text of a path or query to a value for a generated message. Returns undefined if the text is not valid. */
export type TextParser = (text: string) => unknown;

/**
 * Compiles the parser for a singular field, for an item of a list field or for a value of a map field.
 *
 * @param maxDepth the maximum nesting depth of text that is parsed as JSON (Struct, Value and ListValue).
 * @returns undefined for a message that text cannot express.
 */
export function compileTextParser(field: DescField, maxDepth: number): TextParser | undefined {
  if (field.enum !== undefined) return compileEnumParser(field.enum);
  if (field.message !== undefined) return compileMessageParser(field.message, maxDepth);
  const parse = scalarParser(field.scalar ?? ScalarType.STRING);
  if (field.fieldKind === "map" || !field.longAsString) return parse;
  return (text) => parse(text)?.toString();
}

type ScalarParser = (text: string) => string | boolean | number | bigint | Uint8Array | undefined;

/** Returns the parser for a scalar type. 64-bit integers are parsed to bigint. */
export function scalarParser(type: ScalarType): ScalarParser {
  return scalarParsers[type];
}

const parseString: ScalarParser = (text) => text;
const parseBool: ScalarParser = (text) => (text === "true" ? true : text === "false" ? false : undefined);
const parseInt32: ScalarParser = (text) => parseInteger(text, -0x80000000, 0x7fffffff);
const parseUint32: ScalarParser = (text) => parseInteger(text, 0, 0xffffffff);
const parseInt64: ScalarParser = (text) => parseBigInteger(text, -(2n ** 63n), 2n ** 63n - 1n);
const parseUint64: ScalarParser = (text) => parseBigInteger(text, 0n, 2n ** 64n - 1n);

const scalarParsers: Record<ScalarType, ScalarParser> = {
  [ScalarType.STRING]: parseString,
  [ScalarType.BOOL]: parseBool,
  [ScalarType.BYTES]: parseBytes,
  [ScalarType.DOUBLE]: parseDouble,
  [ScalarType.FLOAT]: parseFloat32,
  [ScalarType.INT32]: parseInt32,
  [ScalarType.SINT32]: parseInt32,
  [ScalarType.SFIXED32]: parseInt32,
  [ScalarType.UINT32]: parseUint32,
  [ScalarType.FIXED32]: parseUint32,
  [ScalarType.INT64]: parseInt64,
  [ScalarType.SINT64]: parseInt64,
  [ScalarType.SFIXED64]: parseInt64,
  [ScalarType.UINT64]: parseUint64,
  [ScalarType.FIXED64]: parseUint64,
};

function parseInteger(text: string, least: number, most: number): number | undefined {
  if (!/^-?\d{1,20}$/.test(text)) return undefined;
  const value = Number(text) + 0; // "-0" is 0
  return value >= least && value <= most ? value : undefined;
}

function parseBigInteger(text: string, least: bigint, most: bigint): bigint | undefined {
  if (!/^-?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= least && value <= most ? value : undefined;
}

function parseDouble(text: string): number | undefined {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") return Number(text);
  if (!/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The largest finite float. Its shortest decimal form is a double that is slightly larger. */
const largestFloat = Math.fround(3.4028234663852886e38);

function parseFloat32(text: string): number | undefined {
  const value = parseDouble(text);
  if (value === undefined || !Number.isFinite(value) || Math.abs(value) <= largestFloat) return value;
  const rounded = Math.fround(value);
  return Number.isFinite(rounded) ? rounded : undefined;
}

function parseBytes(text: string): Uint8Array | undefined {
  // The decoder ignores white space, but white space here is usually a "+" that was not percent-encoded.
  if (/\s/.test(text)) return undefined;
  try {
    return base64Decode(text);
  } catch {
    return undefined;
  }
}

function compileEnumParser(desc: DescEnum): TextParser {
  const numbers = new Map(desc.values.map((value) => [value.name, value.number]));
  return (text) => {
    const number = numbers.get(text) ?? parseInteger(text, -0x80000000, 0x7fffffff);
    return number === undefined || desc.open || number in desc.value ? number : undefined;
  };
}

function compileMessageParser(
  desc: DescMessage,
  maxDepth: number,
): ((text: string) => Message | undefined) | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
    case "google.protobuf.Duration": {
      const isMisread = misreadCheck(desc);
      return (text) => (isMisread?.(text) ? undefined : tryFromJson(desc, text));
    }
    case "google.protobuf.FieldMask":
      return parseFieldMask;
    case "google.protobuf.Struct":
    case "google.protobuf.Value":
    case "google.protobuf.ListValue":
      return (text) => {
        try {
          return tryFromJson(desc, parseJson(text, maxDepth));
        } catch {
          return undefined;
        }
      };
    default: {
      const value = isWrapper(desc) ? desc.field["value"] : undefined;
      if (value?.scalar === undefined) return undefined;
      const parse = scalarParser(value.scalar);
      return (text) => {
        const parsed = parse(text);
        return parsed === undefined ? undefined : create(desc, { value: parsed });
      };
    }
  }
}

/** Parses a field mask. Its paths may have proto names or JSON names (`displayName`); the result has proto names. */
function parseFieldMask(text: string): Message | undefined {
  const paths = text === "" ? [] : text.split(",");
  if (paths.some((path) => !/^(\*|[A-Za-z_][\w.]*)$/.test(path))) return undefined;
  return create(FieldMaskSchema, {
    paths: paths.map((path) => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  });
}

function tryFromJson(desc: DescMessage, json: JsonValue): Message | undefined {
  try {
    return fromJson(desc, json, { recursionLimit: Number.MAX_SAFE_INTEGER });
  } catch {
    return undefined;
  }
}
