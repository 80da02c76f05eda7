import type { DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Whether JSON writes the message in another way than as an object of its fields. */
export function hasJsonFormOfItsOwn(desc: DescMessage): boolean {
  return ownForms.has(desc.typeName) || isWrapperDesc(desc);
}

const ownForms: ReadonlySet<string> = new Set(
  ["Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"].map(
    (name) => `google.protobuf.${name}`,
  ),
);

/**
 * The field that a key of JSON stands for: its JSON name or its proto name. Where that is the name of one field and the
 * JSON name of another, the later one has it, as in protobuf-es.
 */
export function fieldOfKey(desc: DescMessage, key: string): DescField | undefined {
  return desc.fields.findLast((field) => field.jsonName === key || field.name === key);
}

/** Whether null is a value of the type of the field, its items or its values, and not the lack of one. */
export function isNullAValue(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Value" || field.enum?.typeName === "google.protobuf.NullValue";
}

/** Whether protobuf-es holds the field's value as plain JSON: a google.protobuf.Struct, but for one in a Value. */
export function isHeldAsJson(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** The scalar that protobuf-es holds in place of a wrapper message, if it does. */
export function findUnwrapped(field: DescField): ScalarType | undefined {
  return field.fieldKind === "message" && field.oneof === undefined ? findWrapped(field.message) : undefined;
}

/** The scalar in a message of google/protobuf/wrappers.proto. */
export function findWrapped(desc: DescMessage): ScalarType | undefined {
  return isWrapperDesc(desc) ? desc.fields[0].scalar : undefined;
}
