import type { DescMessage, JsonValue, Message, Registry } from "@bufbuild/protobuf";
import { invalidFields } from "../errors/rest-error.ts";
import { createJsonReaders } from "../json/read-json.ts";
import { locateJsonErrors } from "./locate-json-errors.ts";

/** @throws RestError FIELD_INVALID that names the fields which do not match their types. */
type MessageDecoder = (json: JsonValue) => Message;

/**
 * Compiles the decoder of a request message.
 *
 * @param root the field that an error names if it cannot name a more specific one; empty for the message itself.
 * @param registry resolves the types of google.protobuf.Any.
 */
export function compileMessageDecoder(
  desc: DescMessage,
  ignoreUnknownFields: boolean,
  root: string = "",
  registry?: Registry,
): MessageDecoder {
  const readers = createJsonReaders({ ignoreUnknownFields, registry });
  const readMessage = readers.message(desc);
  return (json) => {
    try {
      return readMessage(json);
    } catch {
      const violations = locateJsonErrors(desc, json, readers);
      const unlocated = { field: root, description: `is not valid JSON for ${desc.typeName}` };
      throw invalidFields(violations.length > 0 ? violations : [unlocated]);
    }
  };
}
