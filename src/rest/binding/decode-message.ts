import type { DescMessage, JsonValue, Message, Registry } from "@bufbuild/protobuf";
import { invalidFields } from "../errors/rest-error.ts";
import { createJsonReaders } from "../json/read-json.ts";
import { locateJsonErrors } from "./locate-json-errors.ts";

/** @throws RestError FIELD_INVALID that names the fields which do not match their types. */
type MessageDecoder = (json: JsonValue) => Message;

/**
 * Returns the decoder of a request message. It is compiled for the first message, because there are hundreds of methods, of which a
 * process serves some and its start waits for none.
 *
 * @param root the field that the body of a REST request is, which an error names if it cannot name a more specific one; empty for
 *   the message itself.
 * @param registry resolves the types of google.protobuf.Any.
 */
export function compileMessageDecoder(
  desc: DescMessage,
  ignoreUnknownFields: boolean,
  root: string = "",
  registry?: Registry,
): MessageDecoder {
  const readers = createJsonReaders({ ignoreUnknownFields, registry });
  let readMessage: ReturnType<typeof readers.message> | undefined;
  return (json) => {
    readMessage ??= readers.message(desc);
    try {
      return readMessage(json);
    } catch {
      const violations = locateJsonErrors(desc, json, readers, root);
      const unlocated = { field: root, description: `is not valid JSON for ${desc.typeName}` };
      throw invalidFields(violations.length > 0 ? violations : [unlocated]);
    }
  };
}
