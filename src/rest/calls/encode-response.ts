import { hash } from "node:crypto";
import { type DescMessage, isMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { readField } from "../binding/message-access.ts";
import { compileFieldSelection, type FieldSelection, select } from "../json/select-fields.ts";
import { refuseFields } from "../json/parse-field-paths.ts";
import type { JsonWriters } from "../json/write-json.ts";
import { inOwnMemory } from "./in-own-memory.ts";
import type { Presentation } from "./system-parameters.ts";

export interface EncodedMessage {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Returns 132 bits of the SHA-256 hash of the body, in base64url. */
  readonly digest: () => string;
}

export interface ResponseEncoder {
  /** Whether messages are sent as JSON. Otherwise they are google.api.HttpBody and carry their own content type. */
  readonly isJson: boolean;
  /** @throws RestError FIELD_INVALID */
  selectFields(paths: string): FieldSelection;
  /** @param isReused whether the same message will be encoded for other calls, too, as it is now. */
  encode(message: Message, presentation: Presentation, isReused: boolean): EncodedMessage;
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
    return jsonEncoder(output, (message) => (write ??= writers.message(output))(message));
  }
  const field = output.fields.find((candidate) => candidate.name === responseBody);
  if (field === undefined) {
    throw new Error(`${where}: response_body names ${responseBody}, which is not a field of ${output.typeName}`);
  }
  if (field.fieldKind === "message" && field.message.typeName === HttpBodySchema.typeName) {
    return bytesEncoder((message) => readField(message, field));
  }
  // A selection of `fields` is not supported for a map, because its paths would have to name keys.
  return jsonEncoder(field.fieldKind === "map" ? undefined : field.message, writers.field(field));
}

function jsonEncoder(desc: DescMessage | undefined, write: (message: Message) => JsonValue): ResponseEncoder {
  /** Of messages that are reused. */
  const kept = new WeakMap<Message, EncodedMessage>();
  return {
    isJson: true,
    selectFields(paths) {
      if (desc === undefined) refuseFields("is not accepted: the response has no fields");
      return compileFieldSelection(desc, paths);
    },
    encode(message, { pretty, fields }, isReused) {
      const isKept = isReused && fields === undefined && !pretty;
      const known = isKept ? kept.get(message) : undefined;
      if (known !== undefined) return known;
      const json = write(message);
      const body = JSON.stringify(fields === undefined ? json : select(json, fields), null, pretty ? 2 : undefined);
      if (!isKept) return withDigest(jsonType, body);
      const encoded = withDigest(jsonType, body.length <= maxTextLength ? body : inOwnMemory(Buffer.from(body)));
      kept.set(message, encoded);
      return encoded;
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
      return withDigest(raw?.contentType || "application/octet-stream", raw?.data ?? new Uint8Array());
    },
  };
}

function withDigest(contentType: string, body: string | Uint8Array): EncodedMessage {
  let digest: string | undefined;
  return { contentType, body, digest: () => (digest ??= hash("sha256", body, "base64url").slice(0, 22)) };
}
