import { type DescField, fromJson, type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** The JSON that an example in a comment stands for; undefined when the field does not take it. */
export function parseExample(field: DescField, text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return text;
  // A field mask is read with JSON names only, but taken with proto names too.
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
