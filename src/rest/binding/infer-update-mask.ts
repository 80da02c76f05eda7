import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { fieldOfKey, hasJsonFormOfItsOwn } from "../json/json-forms.ts";

/**
 * Infers the field mask of a PATCH from the fields in its body (AIP-134), as dotted proto names. A message contributes the
 * fields that it contains. A list, a map, a well-known type, an empty object and null contribute the whole field.
 *
 * @param json JSON that has been decoded as a `desc`. Keys that are not fields are ignored.
 */
export function inferUpdateMask(desc: DescMessage, json: JsonValue): string[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const field = fieldOfKey(desc, key);
    if (field === undefined) return [];
    const inner =
      field.fieldKind === "message" && !hasJsonFormOfItsOwn(field.message) ? inferUpdateMask(field.message, value) : [];
    return inner.length === 0 ? [field.name] : inner.map((path) => `${field.name}.${path}`);
  });
}

export function findUpdateMaskField(input: DescMessage): DescField | undefined {
  const field = input.fields.find((candidate) => candidate.name === "update_mask");
  return field?.fieldKind === "message" && field.message.typeName === "google.protobuf.FieldMask" ? field : undefined;
}
