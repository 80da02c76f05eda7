import type { Message } from "@bufbuild/protobuf";
import type { Route } from "../compile-routes.ts";
import { RestError } from "../errors/rest-error.ts";
import { readField } from "../binding/message-access.ts";
import type { Call } from "./call.ts";
import { compress, isCompressible, leastCompressedBytes } from "./content-coding.ts";
import { formatEntityTag } from "./entity-tag.ts";
import { negotiateCoding } from "./negotiate.ts";
import { judgeRead } from "./preconditions.ts";
import { sendResponse, toNodeHeaders } from "./send-response.ts";

/**
 * Answers a unary call with its message: 200, 201 with `Location`, 204 for nothing, 304 where the caller has it already;
 * compressed where that is accepted and worth while.
 *
 * @throws RestError PRECONDITION_FAILED
 */
export function answer(call: Call, message: Message): void | Promise<void> {
  const { request, response, presentation, preconditions, context } = call;
  const { conventions, response: encoder, locate } = call.match.route;
  const headers = toNodeHeaders(context.responseHeader);
  const etag = etagOf(conventions.etag, message);
  if (preconditions !== undefined && conventions.reads) {
    const verdict = judgeRead(preconditions, etag);
    if (verdict === 412) throw new RestError("PRECONDITION_FAILED", "the resource is not the one that If-Match names");
    if (verdict === 304) {
      setEntityTag(headers, etag, false);
      sendResponse(request, response, 304, headers);
      return undefined;
    }
  }
  if (isNothing(conventions.answersNothing, message)) {
    sendResponse(request, response, 204, headers);
    return undefined;
  }
  let status = 200;
  if (conventions.creates) {
    status = 201;
    const location = locate?.(message);
    if (location !== undefined) headers["location"] = location;
  }
  const { contentType, body } = encoder.encode(message, presentation);
  headers["content-type"] = contentType;
  if (body.length >= leastCompressedBytes && isCompressible(contentType)) {
    headers["vary"] = headers["vary"] === undefined ? "accept-encoding" : `${String(headers["vary"])}, accept-encoding`;
    const coding = negotiateCoding(request);
    if (coding !== "identity") {
      headers["content-encoding"] = coding;
      setEntityTag(headers, etag, true);
      return compress(body, coding).then((compressed) => {
        if (!call.lifetime.signal.aborted) sendResponse(request, response, status, headers, compressed);
      });
    }
  }
  setEntityTag(headers, etag, false);
  sendResponse(request, response, status, headers, body);
  return undefined;
}

function isNothing(when: Route["conventions"]["answersNothing"], message: Message): boolean {
  if (when !== "when empty") return when === "always";
  const { $typeName: _name, $unknown: _unknown, ...fields } = message;
  return Object.values(fields).every((value) => value === undefined);
}

function etagOf(field: Route["conventions"]["etag"], message: Message): string | undefined {
  const etag = field === undefined ? undefined : readField(message, field);
  return typeof etag === "string" && etag !== "" ? etag : undefined;
}

/** @param isCompressed a compressed answer is another representation, which a strong tag must not share. */
function setEntityTag(
  headers: Record<string, string | string[]>,
  etag: string | undefined,
  isCompressed: boolean,
): void {
  const tag = etag === undefined ? undefined : formatEntityTag(etag, isCompressed);
  if (tag !== undefined && headers["etag"] === undefined) headers["etag"] = tag;
}
