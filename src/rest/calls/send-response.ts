import { constants } from "node:http2";
import type { ServerResponse } from "node:http";
import { fieldsOf } from "./lazy-headers.ts";
import type { RestRequest, RestResponse } from "./call-context.ts";

type ResponseHeaders = Record<string, string | string[]>;

/** Writes a complete response, unless the client has disconnected or the headers have been sent already. */
export function sendResponse(
  request: RestRequest,
  response: RestResponse,
  status: number,
  headers: ResponseHeaders,
  body?: string | Uint8Array,
  trailers?: ResponseHeaders,
): void {
  if (response.destroyed || response.headersSent) return;
  // With a length, the response may count as ended before its trailers: HAProxy drops those after a length of 0.
  if (trailers !== undefined) response.addTrailers(trailers);
  else if (body !== undefined) {
    headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength);
  }
  // Both response types have these methods, but TypeScript cannot unify their overloads.
  const writable = response as ServerResponse;
  const vary = keepVary(writable, headers);
  try {
    writable.writeHead(status, headers);
  } catch (error) {
    // Node rejects one of the headers. Reset the response so that the error response inherits nothing from it.
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
  // Node closes an HTTP/2 stream with an unread request body after a response with a body, but not after one without.
  if ("stream" in response && !response.stream.endAfterHeaders && !request.complete) {
    const { stream } = response;
    setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
  }
}

/** Sets headers that every response to the request has, also an error. */
export function setHeaders(response: RestResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) (response as ServerResponse).setHeader(name, value);
}

/**
 * Merges the `Vary` header that was set on the response before, for example by a CORS middleware, into `headers`.
 * `writeHead` would replace it otherwise.
 *
 * @returns the previous value; undefined if nothing had to be merged.
 */
export function keepVary(response: ServerResponse, headers: ResponseHeaders): string | undefined {
  if (headers["vary"] === undefined) return undefined;
  const before = response.getHeader("vary");
  if (before === undefined) return undefined;
  headers["vary"] = `${String(before)}, ${String(headers["vary"])}`;
  return String(before);
}

/** Converts fetch's headers to those of Node, without the ones that describe another message or its connection. */
export function toNodeHeaders(headers: Headers): ResponseHeaders {
  const record: ResponseHeaders = {};
  for (const [name, value] of fieldsOf(headers)) {
    if (!ownHeaders.has(name)) record[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  }
  return record;
}

/**
 * Headers that are never copied. The metadata of an error that a method received from another service contains the headers
 * of that service's response.
 */
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
