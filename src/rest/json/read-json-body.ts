import type { JsonValue } from "@bufbuild/protobuf";
import { freeMemory } from "../calls/free-memory.ts";
import type { JsonItemCheck } from "../limits/json-item-check.ts";
import { decodeUtf8, parseJson } from "./parse-json.ts";

/**
 * Parses the JSON of a body, whose memory is freed.
 *
 * @param checkItems refuses lists and maps that are too long before they are parsed.
 * @throws RestError BODY_MALFORMED or FIELD_INVALID
 */
export function readJsonBody(bytes: Buffer, maxDepth: number, checkItems: JsonItemCheck | undefined): JsonValue {
  try {
    checkItems?.(bytes);
    return parseJson(decodeUtf8(bytes), maxDepth);
  } finally {
    freeMemory(bytes);
  }
}
