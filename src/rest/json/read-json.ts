import {
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { compileCreator, type MutableFields } from "./create-message.ts";
import { findUnwrapped, findWrapped, hasJsonFormOfItsOwn, isHeldAsJson, isNullAValue } from "./json-forms.ts";
import { canBeMisread, misreadCheck } from "./misread-text.ts";
import { parseTimestamp } from "./parse-timestamp.ts";
import {
  compileEnumReader,
  compileScalarReader,
  ignored,
  isLong,
  isShortEnoughForLong,
  type ValueReader,
} from "./read-scalar.ts";
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
 * Reads messages from JSON values. Returns the same messages as `fromJson` of protobuf-es, and throws an Error where
 * `fromJson` throws one; also for the text that `misreadCheck` finds, such as 30 February, which `fromJson` moves to March. The
 * readers are compiled once per type; rare cases are delegated to `fromJson`.
 *
 * A google.protobuf.Struct shares its value with the JSON. The nesting depth is not limited.
 */
export interface JsonReaders {
  message(desc: DescMessage): JsonReader;
}

interface FieldReader {
  read(message: MutableFields, json: JsonValue): void;
  /** The other name of the field in JSON. */
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
    const known = readers.get(desc) ?? compileWellKnown(desc);
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
      fields.set(key, compileField(field, key, isOther ? otherKey : undefined));
    }
    return readMessage;
  }

  /** @param key the name of the field in JSON. */
  function compileField(field: DescField, key: string, otherKey: string | undefined): FieldReader {
    const { oneof } = field;
    const isNullNothing =
      field.fieldKind === "list" ||
      field.fieldKind === "map" ||
      (!isNullAValue(field) && (oneof === undefined || field.fieldKind === "scalar"));
    return { otherKey, oneof, isNullNothing, read: compileFieldRead(field, key) };
  }

  function compileFieldRead(field: DescField, key: string): FieldReader["read"] {
    const name = field.localName;
    if (field.fieldKind === "map" && field.mapKey !== ScalarType.STRING) {
      const check = field.message !== undefined && canBeMisread(field.message) ? compileElement(field) : undefined;
      return (message, json) => {
        if (isObject(json) && !Object.keys(json).every(isShortEnoughForLong)) refuse(field, "a key is too long");
        if (isObject(json) && check !== undefined) for (const item of Object.values(json)) check(item);
        const alone = fromJson(field.parent, { [key]: json }, reference) as unknown as MutableFields;
        message[name] = alone[name];
      };
    }
    const read = compileElement(field);
    switch (field.fieldKind) {
      case "list":
        return (message, json) => readList(message[name] as unknown[], json, field, read);
      case "map":
        return (message, json) => readMap(message[name] as MutableFields, json, field, read);
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
      if (json === null && !isNullAValue(field)) return;
      const value = read(json);
      if (value !== ignored) message[oneofName] = { case: name, value };
    };
  }

  /** Compiles the reader of the value of a singular field, of an item of a list, or of a value of a map. */
  function compileElement(field: DescField): ValueReader {
    if (field.enum !== undefined) return compileEnumReader(field.enum, ignoreUnknownFields);
    if (field.message === undefined) return compileScalarReader(field.scalar, isLongAsString(field));
    if (isHeldAsJson(field)) return (json) => (isObject(json) ? json : refuse(field, "it is not an object"));
    const wrapped = findUnwrapped(field);
    return wrapped === undefined ? compileMessage(field.message) : compileScalarReader(wrapped, false);
  }

  function compileWellKnown(desc: DescMessage): JsonReader | undefined {
    if (!hasJsonFormOfItsOwn(desc)) return undefined;
    const isWrappedLong = isLong(findWrapped(desc));
    const isMisread = misreadCheck(desc);
    const readOther: JsonReader = (json) => {
      if (isWrappedLong && !isShortEnoughForLong(json)) refuse(desc, "it is too long");
      if (typeof json === "string" && isMisread?.(json)) refuse(desc, "there is no such value");
      return fromJson(desc, json, reference);
    };
    if (desc.typeName !== "google.protobuf.Timestamp") return readOther;
    const { typeName } = desc;
    return (json) => {
      const time = typeof json === "string" ? parseTimestamp(json) : undefined;
      return time === undefined
        ? readOther(json)
        : ({ $typeName: typeName, seconds: time.seconds, nanos: time.nanos } as Message);
    };
  }

  return { message: compileMessage };
}

function readList(items: unknown[], json: JsonValue, field: DescField, read: ValueReader): void {
  if (!Array.isArray(json)) refuse(field, "it is not an array");
  for (const item of json) {
    if (item === null && !isNullAValue(field)) refuse(field, "an item is null");
    const value = read(item);
    if (value !== ignored) items.push(value);
  }
}

function readMap(entries: MutableFields, json: JsonValue, field: DescField, read: ValueReader): void {
  if (!isObject(json)) refuse(field, "it is not an object");
  for (const key of Object.keys(json)) {
    const item = json[key] as JsonValue;
    if (item === null && !isNullAValue(field)) refuse(field, "a value is null");
    const value = read(item);
    if (value === ignored) continue;
    if (!key.isWellFormed()) refuse(field, "a key is not valid Unicode");
    setOwn(entries, key, value);
  }
}

function isLongAsString(field: DescField): boolean {
  return "longAsString" in field && field.longAsString;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
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
