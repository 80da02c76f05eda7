import type { DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Checks whether the JSON form of the message is something other than an object with its fields. */
export function hasJsonFormOfItsOwn(desc: DescMessage): boolean {
  return ownForms.has(desc.typeName) || isWrapperDesc(desc);
}

const ownForms: ReadonlySet<string> = new Set(
  ["Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"].map(
    (name) => `google.protobuf.${name}`,
  ),
);

/**
 * Returns the field with the JSON name or proto name `key`. If the key is the proto name of one field and the JSON name of
 * another, the later field wins, as in protobuf-es.
 */
export function fieldOfKey(desc: DescMessage, key: string): DescField | undefined {
  return desc.fields.findLast((field) => field.jsonName === key || field.name === key);
}

/** Checks whether null is a value of the type of the field (or of its items or map values) rather than the absence of one. */
export function isNullAValue(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Value" || field.enum?.typeName === "google.protobuf.NullValue";
}

/** Checks whether protobuf-es holds the field as plain JSON: a google.protobuf.Struct, except inside a Value. */
export function isHeldAsJson(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** Returns the scalar type of a field if protobuf-es holds a scalar instead of its wrapper message; undefined otherwise. */
export function findUnwrapped(field: DescField): ScalarType | undefined {
  return field.fieldKind === "message" && field.oneof === undefined ? findWrapped(field.message) : undefined;
}

/** Returns the scalar type of a message of google/protobuf/wrappers.proto; undefined for other messages. */
export function findWrapped(desc: DescMessage): ScalarType | undefined {
  return isWrapperDesc(desc) ? desc.fields[0].scalar : undefined;
}
