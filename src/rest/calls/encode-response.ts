import {
  create,
  type DescMessage,
  isMessage,
  type JsonValue,
  type JsonWriteOptions,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { readField } from "../binding/message-access.ts";

/** What a successful call is answered with. */
interface EncodedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export type ResponseEncoder = (message: Message) => EncodedResponse;

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
  options: Partial<JsonWriteOptions>,
): ResponseEncoder {
  const json = { ...options, useProtoFieldName: true };
  if (responseBody === "") {
    if (output.typeName === HttpBodySchema.typeName) return encodeHttpBody;
    return (message) => encodeJson(toJson(output, message, json));
  }
  const field = output.fields.find((candidate) => candidate.name === responseBody);
  if (field === undefined) {
    throw new Error(`${where}: response_body names ${responseBody}, which is not a field of ${output.typeName}`);
  }
  if (field.fieldKind === "message" && field.message.typeName === HttpBodySchema.typeName) {
    return (message) => encodeHttpBody(readField(message, field));
  }
  // What an unset field is answered as: its default, null for a message.
  const unset = pick(toJson(output, create(output), { ...json, alwaysEmitImplicit: true }), responseBody) ?? null;
  return (message) => encodeJson(pick(toJson(output, message, json), responseBody) ?? unset);
}

function pick(json: JsonValue, key: string): JsonValue | undefined {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json[key] : undefined;
}

function encodeJson(json: JsonValue): EncodedResponse {
  return { status: 200, contentType: jsonType, body: JSON.stringify(json) };
}

function encodeHttpBody(body: unknown): EncodedResponse {
  const raw = isMessage(body, HttpBodySchema) ? body : undefined;
  return {
    status: 200,
    contentType: raw?.contentType || "application/octet-stream",
    body: raw?.data ?? new Uint8Array(),
  };
}
