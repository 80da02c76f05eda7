import { type DescMessage, isMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { readField } from "../binding/message-access.ts";
import { compileFieldSelection, type FieldSelection, select } from "../json/select-fields.ts";
import { refuseFields } from "../json/parse-field-paths.ts";
import type { JsonWriters } from "../json/write-json.ts";
import { inOwnMemory } from "./in-own-memory.ts";
import type { Presentation } from "./system-parameters.ts";

/** An encoded message. */
export interface EncodedMessage {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export interface ResponseEncoder {
  /** Whether messages are sent as JSON. Otherwise they are google.api.HttpBody and carry their own content type. */
  readonly isJson: boolean;
  /**
   * Parses the field paths of a partial response.
   *
   * @throws RestError FIELD_INVALID
   */
  selectFields(paths: string): FieldSelection;
  encode(message: Message, presentation: Presentation): EncodedMessage;
}

export const jsonType = "application/json";

/** Node writes a text together with the head, in one piece. Longer bodies are kept as bytes, which it does not copy. */
const maxTextLength = 4096;

/**
 * Compiles the response encoder of a rule. It encodes the whole message or the field `responseBody` as JSON with proto
 * names. A google.api.HttpBody is sent unchanged.
 *
 * @param where the name of the rule, for errors.
 * @throws Error if the field does not exist.
 */
export function compileResponseEncoder(
  output: DescMessage,
  responseBody: string,
  where: string,
  writers: JsonWriters,
): ResponseEncoder {
  if (responseBody === "") {
    if (output.typeName === HttpBodySchema.typeName) return bytesEncoder((message) => message);
    // Compiled for the first response, like the decoders of requests.
    let write: ReturnType<typeof writers.message> | undefined;
    let writeText: ReturnType<typeof writers.text> | undefined;
    return jsonEncoder(
      output,
      (message) => (write ??= writers.message(output))(message),
      (message) => (writeText ??= writers.text(output))(message),
    );
  }
  const field = output.fields.find((candidate) => candidate.name === responseBody);
  if (field === undefined) {
    throw new Error(`${where}: response_body names ${responseBody}, which is not a field of ${output.typeName}`);
  }
  if (field.fieldKind === "message" && field.message.typeName === HttpBodySchema.typeName) {
    return bytesEncoder((message) => readField(message, field));
  }
  // A selection of `fields` is not supported for a map, because its paths would have to name keys.
  const write = writers.field(field);
  const writeText = (message: Message): string => JSON.stringify(write(message));
  return jsonEncoder(field.fieldKind === "map" ? undefined : field.message, write, writeText);
}

function jsonEncoder(
  desc: DescMessage | undefined,
  write: (message: Message) => JsonValue,
  writeText: (message: Message) => string,
): ResponseEncoder {
  /** Of frozen messages, which methods return again and again. */
  const bodies = new WeakMap<Message, string | Uint8Array>();
  return {
    isJson: true,
    selectFields(paths) {
      if (desc === undefined) refuseFields("is not accepted: the response has no fields");
      return compileFieldSelection(desc, paths);
    },
    encode(message, { pretty, fields }) {
      const isWhole = fields === undefined && !pretty;
      const known = isWhole ? bodies.get(message) : undefined;
      if (known !== undefined) return { contentType: jsonType, body: known };
      if (!isWhole) {
        const json = write(message);
        const body = JSON.stringify(fields === undefined ? json : select(json, fields), null, pretty ? 2 : undefined);
        return { contentType: jsonType, body };
      }
      const body = writeText(message);
      if (!Object.isFrozen(message)) return { contentType: jsonType, body };
      const kept = body.length <= maxTextLength ? body : inOwnMemory(Buffer.from(body));
      bodies.set(message, kept);
      return { contentType: jsonType, body: kept };
    },
  };
}

function bytesEncoder(bodyOf: (message: Message) => unknown): ResponseEncoder {
  return {
    isJson: false,
    selectFields: () => refuseFields("is not accepted: the response is not JSON"),
    encode(message) {
      const body = bodyOf(message);
      const raw = isMessage(body, HttpBodySchema) ? body : undefined;
      return { contentType: raw?.contentType || "application/octet-stream", body: raw?.data ?? new Uint8Array() };
    },
  };
}
