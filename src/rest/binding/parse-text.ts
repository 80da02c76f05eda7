import {
  type DescEnum,
  type DescField,
  type JsonValue,
  type Message,
  type DescMessage,
  create,
  fromJson,
  ScalarType,
} from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { readMask } from "../field-paths.ts";
import { misreadCheck } from "../json/misread-text.ts";
import { isInRange, parseFloating, parsePlainInteger } from "../json/number-text.ts";
import { parseBase64 } from "../json/parse-base64.ts";
import { parseJson } from "../json/parse-json.ts";
import { toPlainJson } from "../json/plain-json.ts";
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
function scalarParser(type: ScalarType): ScalarParser {
  switch (type) {
    case ScalarType.STRING:
      return (text) => text;
    case ScalarType.BOOL:
      return (text) => (text === "true" ? true : text === "false" ? false : undefined);
    case ScalarType.BYTES:
      return parseBase64;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (text) => parseFloating(text, type);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (text) => parseInteger(text, type);
    default:
      return (text) => toNumber(parseInteger(text, type));
  }
}

/** Parses digits alone: a text of a URL has one spelling, unlike JSON's `1e2` and `1.0`. */
function parseInteger(text: string, type: ScalarType): bigint | undefined {
  const value = parsePlainInteger(text);
  return value !== undefined && isInRange(type, value) ? value : undefined;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function compileEnumParser(desc: DescEnum): TextParser {
  const numbers = new Map(desc.values.map((value) => [value.name, value.number]));
  return (text) => {
    const number = numbers.get(text) ?? toNumber(parseInteger(text, ScalarType.INT32));
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
          return tryFromJson(desc, toPlainJson(parseJson(text, maxDepth)));
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

/** Parses a field mask. Each path has either proto names or JSON names (`displayName`); the result has proto names. */
function parseFieldMask(text: string): Message | undefined {
  const paths = readMask(text);
  return paths && create(FieldMaskSchema, { paths });
}

function tryFromJson(desc: DescMessage, json: JsonValue): Message | undefined {
  try {
    return fromJson(desc, json, { recursionLimit: Number.MAX_SAFE_INTEGER });
  } catch {
    return undefined;
  }
}
