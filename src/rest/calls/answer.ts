import type { Message } from "@bufbuild/protobuf";
import type { Route } from "./route.ts";
import { RestError } from "../errors/rest-error.ts";
import { readField } from "../binding/message-access.ts";
import type { Call } from "./call.ts";
import type { RestRequest } from "./call-context.ts";
import { compress, isCompressible, leastCompressedBytes } from "./content-coding.ts";
import type { EncodedMessage } from "./encode-response.ts";
import { type EntityTag, entityTagOf, formatEntityTag } from "./entity-tag.ts";
import { type ContentCoding, negotiateCoding } from "./negotiate.ts";
import { judgeRead } from "./preconditions.ts";
import { sendResponse, toNodeHeaders } from "./send-response.ts";

/**
 * Sends the response message of a call: 200, 201 with `Location` for a Create, 204 if it is empty, or 304 if the caller has
 * the same body already. Compresses the body if the client accepts that and the body is large enough.
 *
 * @param isReused whether other calls will get the same message, too, as it is now.
 * @returns a promise if the body is compressed, which resolves when the response is written; otherwise undefined.
 * @throws RestError PRECONDITION_FAILED
 */
export function answer(call: Call, message: Message, isReused: boolean): void | Promise<void> {
  const { request, response, presentation, preconditions, context } = call;
  const { conventions, response: encoder, locate } = call.match.route;
  const headers = toNodeHeaders(context.responseHeader);
  const isEmpty = isNothing(conventions.answersNothing, message);
  const encoded = isEmpty ? undefined : encoder.encode(message, presentation, isReused);
  const coding = encoded === undefined ? "identity" : negotiate(request, encoded, headers);
  const tag = encoded === undefined ? undefined : tagOf(conventions.etag, message, encoded);
  // The tag of a compressed response is weak, because the response is a different representation.
  if (tag !== undefined) headers["etag"] ??= formatEntityTag(tag, coding !== "identity");
  const verdict = preconditions !== undefined && conventions.reads ? judgeRead(preconditions, tag) : 200;
  if (verdict === 412) throw new RestError("PRECONDITION_FAILED", "the etag of the resource does not match If-Match");
  if (verdict === 304 || encoded === undefined) {
    sendResponse(request, response, verdict === 304 ? 304 : 204, headers);
    return undefined;
  }
  let status = 200;
  if (conventions.creates) {
    status = 201;
    const location = locate?.(message);
    if (location !== undefined) headers["location"] = location;
  }
  const { contentType, body } = encoded;
  headers["content-type"] = contentType;
  if (coding === "identity") {
    sendResponse(request, response, status, headers, body);
    return undefined;
  }
  headers["content-encoding"] = coding;
  return compress(body, coding).then((compressed) => {
    if (!call.lifetime.signal.aborted) sendResponse(request, response, status, headers, compressed);
  });
}

function isNothing(when: Route["conventions"]["answersNothing"], message: Message): boolean {
  if (when !== "when empty") return when === "always";
  const { $typeName: _name, $unknown: _unknown, ...fields } = message;
  return Object.values(fields).every(isUnset);
}

const isUnset = (value: unknown): boolean =>
  value === undefined || value === "" || ((Array.isArray(value) || value instanceof Uint8Array) && value.length === 0);

/** Returns the coding of a body. Sets `Vary` if it depends on the request. */
function negotiate(
  request: RestRequest,
  { body, contentType }: EncodedMessage,
  headers: Record<string, string | string[]>,
): ContentCoding {
  if (body.length < leastCompressedBytes || !isCompressible(contentType)) return "identity";
  headers["vary"] = headers["vary"] === undefined ? "accept-encoding" : `${String(headers["vary"])}, accept-encoding`;
  return negotiateCoding(request);
}

function tagOf(
  field: Route["conventions"]["etag"],
  message: Message,
  { digest }: EncodedMessage,
): EntityTag | undefined {
  const etag = field === undefined ? undefined : readField(message, field);
  return typeof etag === "string" ? entityTagOf(etag, digest) : undefined;
}
