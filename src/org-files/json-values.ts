// What errors say of the values of a file.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function describe(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

export const quote = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
