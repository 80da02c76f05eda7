import {
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type JsonWriteOptions,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, type Duration, type FieldMask, type Timestamp, anyUnpack } from "@bufbuild/protobuf/wkt";
import { findWrapped, hasJsonFormOfItsOwn } from "./json-forms.ts";
import { type ValueWriter, compileScalarWriter, writeDynamic } from "./write-scalar.ts";

/** The maximum in google/protobuf/duration.proto: about 10,000 years. */
const mostSeconds = 315_576_000_000n;
const mostNanos = 999_999_999;

interface WellKnownWriterOptions extends Partial<JsonWriteOptions> {
  /** Writes the paths of a google.protobuf.FieldMask. */
  readonly writePaths: (paths: readonly string[]) => string;
}

/**
 * Compiles the writer of a message with a special JSON form. Returns undefined for other messages.
 *
 * @param writerOf returns the writers of the messages in a google.protobuf.Any.
 */
export function compileWellKnownWriter(
  desc: DescMessage,
  options: WellKnownWriterOptions,
  writerOf: (desc: DescMessage) => ValueWriter,
): ValueWriter | undefined {
  if (!hasJsonFormOfItsOwn(desc)) return undefined;
  const writeAsReference: ValueWriter = (value) => toJson(desc, value as Message, options);
  const write =
    desc.typeName === "google.protobuf.Any"
      ? compileAnyWriter(options, writerOf, writeAsReference)
      : compileOwnWriter(desc, options, writeAsReference);
  // `toJson` rejects a message of another type.
  return (value) =>
    (value as Message | undefined)?.$typeName === desc.typeName ? write(value) : writeAsReference(value);
}

/** @param writeAsReference the writer of protobuf-es, which handles rare values and rejects values that are out of range. */
function compileOwnWriter(
  desc: DescMessage,
  { writePaths }: WellKnownWriterOptions,
  writeAsReference: ValueWriter,
): ValueWriter {
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
      return (value) => writePaths((value as FieldMask).paths);
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

const secondsPerDay = 86_400;

/** The range of google/protobuf/timestamp.proto: from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/**
 * Creates a function that formats a google.protobuf.Timestamp as RFC 3339, with 0, 3, 6 or 9 fractional digits. It caches
 * the last date, since the times in one response are often on the same day.
 *
 * The function takes seconds since 1970 and nanoseconds, both integers, and returns undefined if they are out of range.
 */
function createTimestampFormatter(): (seconds: number, nanos: number) => string | undefined {
  let lastDay = Number.NaN;
  let lastDate = "";
  return (seconds, nanos) => {
    if (!(seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= 999_999_999)) return undefined;
    const day = Math.floor(seconds / secondsPerDay);
    if (day !== lastDay) {
      lastDate = new Date(day * secondsPerDay * 1000).toISOString().slice(0, 11);
      lastDay = day;
    }
    const second = seconds - day * secondsPerDay;
    const hour = twoDigits[Math.trunc(second / 3600)];
    const minute = twoDigits[Math.trunc(second / 60) % 60];
    return `${lastDate}${hour}:${minute}:${twoDigits[second % 60]}${formatFraction(nanos)}Z`;
  };
}

/** Returns a point and 3, 6 or 9 digits; an empty string for 0. */
function formatFraction(nanos: number): string {
  if (nanos === 0) return "";
  if (nanos % 1_000_000 === 0) return `.${String(1000 + nanos / 1_000_000).slice(1)}`;
  if (nanos % 1000 === 0) return `.${String(1_000_000 + nanos / 1000).slice(1)}`;
  return `.${String(1_000_000_000 + nanos).slice(1)}`;
}
