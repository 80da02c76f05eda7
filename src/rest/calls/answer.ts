import type { Message } from "@bufbuild/protobuf";
import type { Route } from "./route.ts";
import { RestError } from "../errors/rest-error.ts";
import { readField } from "../binding/message-access.ts";
import type { Call } from "./call.ts";
import { compress, isCompressible, leastCompressedBytes } from "./content-coding.ts";
import { formatEntityTag } from "./entity-tag.ts";
import { negotiateCoding } from "./negotiate.ts";
import { judgeRead } from "./preconditions.ts";
import { sendResponse, toNodeHeaders } from "./send-response.ts";

/**
 * Sends the response message of a call: 200, 201 with `Location` for a Create, 204 if it is empty, or 304 if the caller has
 * the current revision already. Compresses the body if the client accepts that and the body is large enough.
 *
 * @returns a promise if the body is compressed, which resolves when the response is written; otherwise undefined.
 * @throws RestError PRECONDITION_FAILED
 */
export function answer(call: Call, message: Message): void | Promise<void> {
  const { request, response, presentation, preconditions, context } = call;
  const { conventions, response: encoder, locate } = call.match.route;
  const headers = toNodeHeaders(context.responseHeader);
  const etag = etagOf(conventions.etag, message);
  if (preconditions !== undefined && conventions.reads) {
    const verdict = judgeRead(preconditions, etag);
    if (verdict === 412) throw new RestError("PRECONDITION_FAILED", "the etag of the resource does not match If-Match");
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

/**
 * Sets the `ETag` header unless the method has set it. The tag of a compressed response is weak, because the response is
 * a different representation.
 */
function setEntityTag(
  headers: Record<string, string | string[]>,
  etag: string | undefined,
  isCompressed: boolean,
): void {
  const tag = etag === undefined ? undefined : formatEntityTag(etag, isCompressed);
  if (tag !== undefined && headers["etag"] === undefined) headers["etag"] = tag;
}
