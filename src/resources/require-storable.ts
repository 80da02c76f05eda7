import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../errors/service-error.ts";

const maxBytes = 64 * 1024;

/** U+0000, and surrogates that are not in a pair: PostgreSQL stores neither. */
const unstorable = /\0|[\uD800-\uDFFF]/u;

/** @throws ServiceError FIELD_INVALID */
export function requireStorable(json: JsonObject, field: string): void {
  if (Buffer.byteLength(JSON.stringify(json)) > maxBytes) {
    throw invalidField(field, `must be at most ${maxBytes} bytes of JSON`, "max_bytes");
  }
  if (!isStorable(json)) {
    throw invalidField(field, "must not contain U+0000 or surrogates that are not in a pair", "characters");
  }
}

function isStorable(json: JsonValue): boolean {
  if (typeof json === "string") return !unstorable.test(json);
  if (typeof json !== "object" || json === null) return true;
  return Object.entries(json).every(([key, value]) => !unstorable.test(key) && isStorable(value));
}
