import { type DescMessage, isMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { readField } from "../binding/message-access.ts";
import { compileFieldSelection, type FieldSelection, select } from "../json/select-fields.ts";
import { refuseFields } from "../json/parse-field-paths.ts";
import type { JsonWriters } from "../json/write-json.ts";
import type { Presentation } from "./system-parameters.ts";

/** What a message is sent as. */
export interface EncodedMessage {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export interface ResponseEncoder {
  /** Whether messages are sent as JSON; otherwise they are google.api.HttpBody and say themselves what they are. */
  readonly isJson: boolean;
  /**
   * Reads the field paths of a partial answer.
   *
   * @throws RestError FIELD_INVALID
   */
  selectFields(paths: string): FieldSelection;
  encode(message: Message, presentation: Presentation): EncodedMessage;
}

export const jsonType = "application/json";

/**
 * Compiles what a rule makes of a response: the whole message or the field `responseBody`, as JSON with proto names; a
 * google.api.HttpBody as it is.
 *
 * @throws Error when there is no such field.
 */
export function compileResponseEncoder(
  output: DescMessage,
  responseBody: string,
  where: string,
  writers: JsonWriters,
): ResponseEncoder {
  if (responseBody === "") {
    if (output.typeName === HttpBodySchema.typeName) return bytesEncoder((message) => message);
    return jsonEncoder(output, writers.message(output));
  }
  const field = output.fields.find((candidate) => candidate.name === responseBody);
  if (field === undefined) {
    throw new Error(`${where}: response_body names ${responseBody}, which is not a field of ${output.typeName}`);
  }
  if (field.fieldKind === "message" && field.message.typeName === HttpBodySchema.typeName) {
    return bytesEncoder((message) => readField(message, field));
  }
  // Of a map, `fields` would have to name keys.
  return jsonEncoder(field.fieldKind === "map" ? undefined : field.message, writers.field(field));
}

function jsonEncoder(desc: DescMessage | undefined, write: (message: Message) => JsonValue): ResponseEncoder {
  return {
    isJson: true,
    selectFields(paths) {
      if (desc === undefined) refuseFields("is not taken here: the answer has no fields");
      return compileFieldSelection(desc, paths);
    },
    encode(message, { pretty, fields }) {
      const json = write(message);
      const body = JSON.stringify(fields === undefined ? json : select(json, fields), null, pretty ? 2 : undefined);
      return { contentType: jsonType, body };
    },
  };
}

function bytesEncoder(bodyOf: (message: Message) => unknown): ResponseEncoder {
  return {
    isJson: false,
    selectFields: () => refuseFields("is not taken here: the answer is not JSON"),
    encode(message) {
      const body = bodyOf(message);
      const raw = isMessage(body, HttpBodySchema) ? body : undefined;
      return { contentType: raw?.contentType || "application/octet-stream", body: raw?.data ?? new Uint8Array() };
    },
  };
}
