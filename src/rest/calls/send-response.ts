import { constants } from "node:http2";
import type { ServerResponse } from "node:http";
import type { RestRequest, RestResponse } from "./call-context.ts";

type ResponseHeaders = Record<string, string | string[]>;

/** Writes an answer in one go, unless the client has gone or there is one already. */
export function sendResponse(
  request: RestRequest,
  response: RestResponse,
  status: number,
  headers: ResponseHeaders,
  body?: string | Uint8Array,
): void {
  if (response.destroyed || response.headersSent) return;
  if (body !== undefined) {
    headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength);
  }
  // Both kinds of response have these methods, but with overloads that TypeScript cannot unite.
  const writable = response as ServerResponse;
  const vary = keepVary(writable, headers);
  try {
    writable.writeHead(status, headers);
  } catch (error) {
    // A header that Node does not take. Nothing of this answer may stay for the one that tells of it.
    for (const name of Object.keys(headers)) writable.removeHeader(name);
    if (vary !== undefined) writable.setHeader("vary", vary);
    if (!("stream" in response)) response.statusMessage = "";
    throw error;
  }
  if (body !== undefined && request.method !== "HEAD") {
    writable.end(body);
    return;
  }
  writable.end();
  // Node closes an HTTP/2 stream that nobody reads after an answer with a body, but not after one without.
  if ("stream" in response && !response.stream.endAfterHeaders && !request.complete) {
    const { stream } = response;
    setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
  }
}

/**
 * What stands around the handler may vary the answer too, by its origin for example; `writeHead` would replace that.
 *
 * @returns what it said before.
 */
export function keepVary(response: ServerResponse, headers: ResponseHeaders): string | undefined {
  if (headers["vary"] === undefined) return undefined;
  const before = response.getHeader("vary");
  if (before === undefined) return undefined;
  headers["vary"] = `${String(before)}, ${String(headers["vary"])}`;
  return String(before);
}

/** Fetch's headers as Node takes them, without those that are about another message or its connection. */
export function toNodeHeaders(headers: Headers): ResponseHeaders {
  const record: ResponseHeaders = {};
  for (const [name, value] of headers) {
    if (!ownHeaders.has(name)) record[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  }
  return record;
}

/** An error that a handler got from another service brings that answer's headers along. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
