import {
  type DescField,
  type DescMessage,
  type DescOneof,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { quote } from "../errors/rest-error.ts";
import { compileCreator, type MutableFields } from "./create-message.ts";
import { findUnwrapped, isHeldAsJson, isNullAValue } from "./json-forms.ts";
import { NumberText, parseMapKey } from "./number-text.ts";
import { toPlainJson } from "./plain-json.ts";
import { compileEnumReader, compileScalarReader, ignored, type ValueReader } from "./read-scalar.ts";
import { compileWellKnownReader } from "./read-well-known.ts";
import { setOwn } from "./set-own.ts";

interface JsonReaderOptions {
  /** Whether unknown fields and unknown names of enum values are ignored. */
  readonly ignoreUnknownFields: boolean;
  /** Resolves the types of google.protobuf.Any, which are refused without it. */
  readonly registry?: Registry | undefined;
}

/** @throws Error if the value does not match the type. The error need not name the position. */
type JsonReader = (json: JsonValue) => Message;

/**
 * Reads messages from JSON values, as `parseJson` returns them. Returns the same messages as `fromJson` of protobuf-es, and throws
 * an Error where `fromJson` throws one, but for the differences of docs/decisions/0009-json.md: numbers are read
 * from their text, for instance. The readers are compiled once per type.
 *
 * A google.protobuf.Struct shares its value with the JSON. The nesting depth is not limited.
 */
export interface JsonReaders {
  message(desc: DescMessage): JsonReader;
  readonly options: JsonReaderOptions;
}

interface FieldReader {
  read(message: MutableFields, json: JsonValue): void;
  readonly otherKey: string | undefined;
  readonly oneof: DescOneof | undefined;
  /** Whether null means that the field is not set. In a oneof, another member may be set in that case. */
  readonly isNullNothing: boolean;
}

export function createJsonReaders(options: JsonReaderOptions): JsonReaders {
  const { ignoreUnknownFields, registry } = options;
  const limits = { ignoreUnknownFields, recursionLimit: Number.MAX_SAFE_INTEGER };
  const reference = registry === undefined ? limits : { ...limits, registry };
  const readers = new Map<DescMessage, JsonReader>();

  function compileMessage(desc: DescMessage): JsonReader {
    const known = readers.get(desc) ?? compileWellKnownReader(desc, reference, compileMessage);
    if (known !== undefined) return known;
    const createMessage = compileCreator(desc);
    const fields = new Map<string, FieldReader>();
    const readMessage: JsonReader = (json) => {
      if (!isObject(json)) refuse(desc, "it is not an object");
      const message = createMessage();
      let oneofs: DescOneof[] | undefined;
      for (const key of Object.keys(json)) {
        const field = fields.get(key);
        if (field === undefined) {
          if (ignoreUnknownFields) continue;
          refuse(desc, `key ${key} is unknown`);
        }
        if (field.otherKey !== undefined && Object.hasOwn(json, field.otherKey)) refuse(desc, `${key} is given twice`);
        const value = json[key] as JsonValue;
        if (value === null && field.isNullNothing) continue;
        if (field.oneof !== undefined) {
          if (oneofs?.includes(field.oneof)) refuse(field.oneof, "it is given twice");
          (oneofs ??= []).push(field.oneof);
        }
        field.read(message, value);
      }
      return message as unknown as Message;
    };
    // A type may contain itself, so it is registered before its fields are compiled.
    readers.set(desc, readMessage);
    const byKey = fieldsByKey(desc);
    for (const [key, field] of byKey) {
      const otherKey = key === field.name ? field.jsonName : field.name;
      const isOther = otherKey !== key && byKey.get(otherKey) === field;
      fields.set(key, compileField(field, isOther ? otherKey : undefined));
    }
    return readMessage;
  }

  function compileField(field: DescField, otherKey: string | undefined): FieldReader {
    const isNullNothing = field.fieldKind === "list" || field.fieldKind === "map" || !isNullAValue(field);
    return { otherKey, oneof: field.oneof, isNullNothing, read: compileFieldRead(field) };
  }

  function compileFieldRead(field: DescField): FieldReader["read"] {
    const name = field.localName;
    const read = compileElement(field);
    switch (field.fieldKind) {
      case "list":
        return (message, json) => readList(message[name] as unknown[], json, field, read);
      case "map":
        return (message, json) => readMap(message[name] as MutableFields, json, field, field.mapKey, read);
      default:
        break;
    }
    const oneofName = field.oneof?.localName;
    if (oneofName === undefined) {
      return (message, json) => {
        const value = read(json);
        if (value !== ignored) message[name] = value;
      };
    }
    return (message, json) => {
      const value = read(json);
      if (value !== ignored) message[oneofName] = { case: name, value };
    };
  }

  /** Compiles the reader of the value of a singular field, of an item of a list, or of a value of a map. */
  function compileElement(field: DescField): ValueReader {
    if (field.enum !== undefined) return compileEnumReader(field.enum, ignoreUnknownFields);
    if (field.message === undefined) return compileScalarReader(field.scalar, isLongAsString(field));
    if (isHeldAsJson(field)) {
      return (json) => (isObject(json) ? toPlainJson(json) : refuse(field, "it is not an object"));
    }
    const wrapped = findUnwrapped(field);
    return wrapped === undefined ? compileMessage(field.message) : compileScalarReader(wrapped, false);
  }

  return { message: compileMessage, options };
}

function readList(items: unknown[], json: JsonValue, field: DescField, read: ValueReader): void {
  if (!Array.isArray(json)) refuse(field, "it is not an array");
  for (const item of json) {
    if (item === null && !isNullAValue(field)) refuse(field, "an item is null");
    const value = read(item);
    if (value !== ignored) items.push(value);
  }
}

function readMap(
  entries: MutableFields,
  json: JsonValue,
  field: DescField,
  keyType: ScalarType,
  read: ValueReader,
): void {
  if (!isObject(json)) refuse(field, "it is not an object");
  const isText = keyType === ScalarType.STRING;
  for (const given of Object.keys(json)) {
    const item = json[given] as JsonValue;
    if (item === null && !isNullAValue(field)) refuse(field, "a value is null");
    const key = isText ? (given.isWellFormed() ? given : undefined) : parseMapKey(keyType, given);
    if (key === undefined) refuse(field, `${quote(given)} is no key`);
    if (key !== given && Object.hasOwn(json, key)) refuse(field, "a key is given twice");
    const value = read(item);
    if (value !== ignored) setOwn(entries, key, value);
  }
}

function isLongAsString(field: DescField): boolean {
  return "longAsString" in field && field.longAsString;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof NumberText);
}

function refuse(desc: { toString(): string }, why: string): never {
  throw new Error(`cannot decode ${desc.toString()} from JSON: ${why}`);
}

/** Maps each key to its field. If a key is the proto name of one field and the JSON name of another, the later field wins. */
function fieldsByKey(desc: DescMessage): ReadonlyMap<string, DescField> {
  const fields = new Map<string, DescField>();
  for (const field of desc.fields) fields.set(field.name, field).set(field.jsonName, field);
  return fields;
}
