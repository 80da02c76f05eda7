import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { valueNames } from "../value-names.ts";

/** Describes the values that a field accepts. The text continues "must be ..." in violations. */
export function describeField(field: DescField): string {
  if (field.fieldKind === "list") return `an array, each item ${describeElement(field)}`;
  if (field.fieldKind === "map") return `an object, each value ${describeElement(field)}`;
  return describeElement(field);
}

/** Describes the values that a singular field, an item of a list field or a value of a map field accepts. */
export function describeElement(field: DescField): string {
  if (field.message !== undefined) return describeMessage(field.message);
  if (field.enum !== undefined) return describeEnum(field.enum);
  return describeScalar(field.scalar ?? ScalarType.STRING);
}

export function describeMapKey(type: ScalarType): string {
  return type === ScalarType.STRING ? "valid Unicode" : scalars[type];
}

export function describeScalar(type: ScalarType): string {
  return scalars[type];
}

const int32 = "a whole number from -2147483648 to 2147483647";
const uint32 = "a whole number from 0 to 4294967295";
const int64 = "a whole number from -9223372036854775808 to 9223372036854775807";
const uint64 = "a whole number from 0 to 18446744073709551615";
const float = 'a number, "NaN", "Infinity" or "-Infinity"';

const scalars: Record<ScalarType, string> = {
  [ScalarType.STRING]: "a string",
  [ScalarType.BOOL]: "true or false",
  [ScalarType.BYTES]: "bytes in base64, with all of its padding or without it",
  [ScalarType.DOUBLE]: float,
  [ScalarType.FLOAT]: float,
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

function describeEnum(desc: DescEnum): string {
  const names = valueNames(desc);
  const more = names.length > 20 ? ", ..." : "";
  return `one of ${names.slice(0, 20).join(", ")}${more} or its number`;
}

function describeMessage(desc: DescMessage): string {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return "a time such as 2026-01-31T12:00:00Z";
    case "google.protobuf.Duration":
      return "a duration in seconds such as 3.5s";
    case "google.protobuf.FieldMask":
      return "comma-separated field paths such as name,address.city, with keys of maps that have other characters than letters, digits, _, - and / in backticks";
    case "google.protobuf.Value":
      return "any JSON value";
    case "google.protobuf.ListValue":
      return "an array of any JSON values";
    case "google.protobuf.Struct":
      return "an object of any JSON values";
    case "google.protobuf.Any":
      return 'an object with an "@type" and the fields of that message';
    default:
      return isWrapper(desc) ? describeScalar(desc.field["value"]?.scalar ?? ScalarType.STRING) : "an object";
  }
}

/** Checks whether a message is one of google/protobuf/wrappers.proto, which JSON writes as the bare value. */
export function isWrapper(desc: DescMessage): boolean {
  return desc.file.proto.name === "google/protobuf/wrappers.proto";
}
