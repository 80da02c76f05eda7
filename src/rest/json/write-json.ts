import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { writeMask } from "../field-paths.ts";
import { absent, compileFieldGetter, type Fields } from "./field-getter.ts";
import { findUnwrapped, isHeldAsJson } from "./json-forms.ts";
import { setOwn } from "./set-own.ts";
import { compileEnumWriter, compileScalarWriter, type ValueWriter, writeStruct } from "./write-scalar.ts";
import { compileWellKnownWriter } from "./write-well-known.ts";

interface JsonWriterOptions {
  /** Whether fields that hold their default value are written. */
  readonly alwaysEmitImplicit: boolean;
  /** Whether members have the names of the proto file, `page_token`, instead of those of JSON, `pageToken`. Defaults to true. */
  readonly useProtoFieldName?: boolean;
  /** Resolves the types of google.protobuf.Any, and extensions. */
  readonly registry?: Registry | undefined;
  /** Writes the paths of a google.protobuf.FieldMask, for what reads them otherwise than this service. */
  readonly writePaths?: (paths: readonly string[]) => string;
}

type JsonWriter = (message: Message) => JsonValue;

/**
 * Converts messages to JSON values. JSON.stringify produces the same text for them as for the result of
 * `toJson` of protobuf-es, but for floats, which have fewer digits, -0, which stays -0, and paths of a google.protobuf.FieldMask
 * with keys of maps. An Error is thrown where `toJson` throws one, and for a path that would not be read back. The writers are
 * compiled once per type.
 *
 * The result must be used immediately and not be modified: it shares maps with the message. Its objects may have members
 * that are undefined, which JSON.stringify omits. All objects of one type are clones of one object, so that V8 gives them
 * the same shape and never has to add a property. Adding properties by dynamic names would be the largest cost otherwise.
 */
export interface JsonWriters {
  message(desc: DescMessage): JsonWriter;
  /** Writes the value of one field. If the field is not set, writes null, or the default if its presence is implicit. */
  field(field: DescField): JsonWriter;
}

type FieldWriter = (message: Fields, json: JsonObject) => void;

export function createJsonWriters(options: JsonWriterOptions): JsonWriters {
  const { alwaysEmitImplicit, useProtoFieldName = true, registry, writePaths = writeMask } = options;
  const reference = { alwaysEmitImplicit, useProtoFieldName, ...(registry !== undefined && { registry }) };
  const writers = new Map<DescMessage, ValueWriter>();
  const nameOf = (field: DescField): string => (useProtoFieldName ? field.name : field.jsonName);

  function compileMessage(desc: DescMessage): ValueWriter {
    const known = writers.get(desc) ?? compileWellKnownWriter(desc, { ...reference, writePaths }, compileMessage);
    if (known !== undefined) return known;
    const { typeName } = desc;
    const fields: FieldWriter[] = [];
    const sorted = byNumber(desc);
    const empty = Object.fromEntries(sorted.map((field) => [nameOf(field), undefined])) as unknown as JsonObject;
    const isExtensible = registry !== undefined && desc.proto.extensionRange.length > 0;
    const write: ValueWriter = (value) => {
      const message = value as Fields;
      // `toJson` rejects a message of another type.
      if (message["$typeName"] !== typeName) return toJson(desc, value as Message, reference);
      const json = { ...empty };
      for (const writeField of fields) writeField(message, json);
      if (isExtensible && message["$unknown"] !== undefined)
        addExtensions(json, toJson(desc, value as Message, reference));
      return json;
    };
    // A type may contain itself, so it is registered before its fields are compiled.
    writers.set(desc, write);
    fields.push(...sorted.map(compileField));
    return write;
  }

  function compileField(field: DescField): FieldWriter {
    const name = nameOf(field);
    const get = compileFieldGetter(field, alwaysEmitImplicit);
    const write = compileValue(field);
    return (message, json) => {
      const value = get(message);
      if (value !== absent) json[name] = write(value);
    };
  }

  function compileValue(field: DescField): ValueWriter {
    const write = compileElement(field);
    switch (field.fieldKind) {
      case "list":
        return (value) => writeList(value as readonly unknown[], write);
      case "map": {
        const isAsItIs = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BOOL;
        return isAsItIs
          ? (value) => checkEntries(value as JsonObject, write)
          : (value) => writeMap(value as Fields, write);
      }
      default:
        return write;
    }
  }

  /** Compiles the writer of the value of a singular field, of an item of a list, or of a value of a map. */
  function compileElement(field: DescField): ValueWriter {
    if (field.enum !== undefined) return compileEnumWriter(field.enum);
    if (field.message === undefined) return compileScalarWriter(field.scalar, field.toString());
    if (isHeldAsJson(field)) return writeStruct;
    const wrapped = findUnwrapped(field);
    return wrapped === undefined ? compileMessage(field.message) : compileScalarWriter(wrapped, field.toString());
  }

  return {
    message: compileMessage,
    field(field) {
      const get = compileFieldGetter(field, true);
      const write = compileValue(field);
      return (message) => {
        const value = get(message);
        return value === absent ? null : write(value);
      };
    },
  };
}

function byNumber(desc: DescMessage): DescField[] {
  return desc.fields.toSorted((one, other) => one.number - other.number);
}

/** Adds the members for extensions, which are rare and therefore written by protobuf-es. */
function addExtensions(json: JsonObject, reference: JsonValue): void {
  for (const [key, value] of Object.entries(reference as JsonObject)) if (key.startsWith("[")) json[key] = value;
}

function writeList(items: readonly unknown[], write: ValueWriter): JsonValue {
  const json: JsonValue[] = [];
  // Iterate by index, because a hole in the array must be rejected too.
  for (let index = 0; index < items.length; index++) json.push(write(items[index]));
  return json;
}

function writeMap(entries: Fields, write: ValueWriter): JsonValue {
  const json: JsonObject = {};
  for (const key of Object.keys(entries)) setOwn(json, key, write(entries[key]));
  return json;
}

/** Checks and returns a map whose values are JSON already. */
function checkEntries(entries: JsonObject, check: ValueWriter): JsonValue {
  for (const key of Object.keys(entries)) check(entries[key]);
  return entries;
}
