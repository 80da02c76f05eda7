import {
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type JsonWriteOptions,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, anyUnpack, type Duration, type Timestamp } from "@bufbuild/protobuf/wkt";
import { createTimestampFormatter, formatFraction } from "./format-timestamp.ts";
import { findWrapped, hasJsonFormOfItsOwn } from "./json-forms.ts";
import { compileScalarWriter, type ValueWriter, writeDynamic } from "./write-scalar.ts";

/** The maximum in google/protobuf/duration.proto: about 10,000 years. */
const mostSeconds = 315_576_000_000n;
const mostNanos = 999_999_999;

/**
 * Compiles the writer of a message with a special JSON form. Returns undefined for other messages.
 *
 * @param writerOf returns the writers of the messages in a google.protobuf.Any.
 */
export function compileWellKnownWriter(
  desc: DescMessage,
  options: Partial<JsonWriteOptions>,
  writerOf: (desc: DescMessage) => ValueWriter,
): ValueWriter | undefined {
  if (!hasJsonFormOfItsOwn(desc)) return undefined;
  const writeAsReference: ValueWriter = (value) => toJson(desc, value as Message, options);
  const write =
    desc.typeName === "google.protobuf.Any"
      ? compileAnyWriter(options, writerOf, writeAsReference)
      : compileOwnWriter(desc, writeAsReference);
  // `toJson` rejects a message of another type.
  return (value) =>
    (value as Message | undefined)?.$typeName === desc.typeName ? write(value) : writeAsReference(value);
}

/** @param writeAsReference the writer of protobuf-es, which handles rare values and rejects values that are out of range. */
function compileOwnWriter(desc: DescMessage, writeAsReference: ValueWriter): ValueWriter {
  const scalar = findWrapped(desc);
  if (scalar !== undefined) {
    const write = compileScalarWriter(scalar, desc.typeName);
    return (value) => {
      const held = (value as { readonly value?: unknown }).value;
      return held === undefined ? writeAsReference(value) : write(held);
    };
  }
  switch (desc.typeName) {
    case "google.protobuf.Timestamp": {
      const format = createTimestampFormatter();
      return (value) => {
        const { seconds, nanos } = value as Timestamp;
        const isWhole = typeof seconds === "bigint" && Number.isInteger(nanos);
        return (isWhole ? format(Number(seconds), nanos) : undefined) ?? writeAsReference(value);
      };
    }
    case "google.protobuf.Duration":
      return (value) => {
        const { seconds, nanos } = value as Duration;
        const isWhole = typeof seconds === "bigint" && Number.isInteger(nanos);
        const isPlain = isWhole && seconds >= 0n && seconds <= mostSeconds && nanos >= 0 && nanos <= mostNanos;
        return isPlain ? `${seconds}${formatFraction(nanos)}s` : writeAsReference(value);
      };
    case "google.protobuf.FieldMask":
      return writeAsReference;
    default:
      // A Struct, Value or ListValue.
      return (value) => writeDynamic(writeAsReference(value));
  }
}

/** @param writeAsReference rejects types that the registry does not know. */
function compileAnyWriter(
  { registry }: Partial<JsonWriteOptions>,
  writerOf: (desc: DescMessage) => ValueWriter,
  writeAsReference: ValueWriter,
): ValueWriter {
  return (value) => {
    const any = value as Any;
    if (any.typeUrl === "" && any.value.length > 0) {
      throw new Error("cannot encode google.protobuf.Any to JSON: it has a value and no type");
    }
    const message = registry && anyUnpack(any, registry);
    const desc = message && registry.getMessage(message.$typeName);
    if (desc === undefined) return writeAsReference(any);
    const json: JsonValue = writerOf(desc)(message);
    return hasJsonFormOfItsOwn(desc)
      ? { value: json, "@type": any.typeUrl }
      : { ...(json as JsonObject), "@type": any.typeUrl };
  };
}
