import { type DescField, fromJson, type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** Converts an example from a comment to JSON. Returns undefined if it is not a valid value of the field. */
export function parseExample(field: DescField, text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return text;
  // `fromJson` accepts JSON names only, but the transcoder accepts proto names too.
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.FieldMask") return text;
  const candidates = [parseJson(text), text].filter((candidate) => candidate !== undefined);
  const values = field.fieldKind === "list" ? candidates.map((candidate) => [candidate].flat()) : candidates;
  return values.find((value) => isTaken(field, value));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isTaken(field: DescField, value: JsonValue): boolean {
  try {
    fromJson(field.parent, { [field.name]: value });
    return true;
  } catch {
    return false;
  }
}
