import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { fieldOfKey, hasJsonFormOfItsOwn } from "../json/json-forms.ts";

/**
 * The field mask that a PATCH means by the fields that its body mentions (AIP-134), as dotted proto names: a message
 * counts by its fields; a list, a map, a well-known type, an empty object and null stand for the whole field.
 *
 * @param json has been decoded as a `desc`; keys that are no fields are left out.
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

/** The field of a request that takes an inferred mask, if it has one. */
export function findUpdateMaskField(input: DescMessage): DescField | undefined {
  const field = input.fields.find((candidate) => candidate.name === "update_mask");
  return field?.fieldKind === "message" && field.message.typeName === "google.protobuf.FieldMask" ? field : undefined;
}
