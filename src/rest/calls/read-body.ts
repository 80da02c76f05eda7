import { constants } from "node:http2";
import { decompressorOf } from "./content-coding.ts";
import type { RestRequest, RestResponse } from "./call-context.ts";
import { collectPieces } from "./collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

/** Checks whether the headers of a request indicate that it has no body. */
export function hasNoBody(request: RestRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders || request.headers["content-length"] === "0";
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
}

/**
 * Reads a body of at most `maxBytes` and decompresses it to at most `maxBytes`. The rest of a longer body is discarded.
 *
 * @param onRead called once, unless the client disconnects before the body is complete.
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function readBody(request: RestRequest, maxBytes: number, onRead: (body: Buffer | RestError) => void): void {
  const decompress = decompressorOf(request.headers["content-encoding"]);
  readBytes(request, maxBytes, (body) => {
    if (decompress === undefined || body instanceof RestError || body.length === 0) onRead(body);
    else decompress(body, maxBytes, onRead);
  });
}

/**
 * Reads a body of at most `maxBytes` as it was sent. The rest of a longer body is discarded.
 *
 * @param onRead called once, unless the client disconnects before the body is complete.
 */
export function readBytes(request: RestRequest, maxBytes: number, onRead: (body: Buffer | RestError) => void): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    onRead(tooLarge(maxBytes));
    return;
  }
  const pieces = collectPieces();
  let length = 0;
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length <= maxBytes) {
      pieces.add(chunk);
      return;
    }
    request.off("data", onData);
    request.off("end", onEnd);
    request.resume();
    onRead(tooLarge(maxBytes));
  };
  const onEnd = (): void => {
    // Over HTTP/2, "end" is also emitted when the stream is reset with NO_ERROR.
    if (request.aborted) return;
    onRead(pieces.take());
  };
  request.on("data", onData);
  request.on("end", onEnd);
  // Without a listener, the error of a client that disconnects would be thrown. The "close" event of the response handles it.
  request.on("error", () => {});
}

/**
 * Ends the request with its response: the connection (HTTP/1.1) or the stream (HTTP/2) is closed without waiting for the
 * rest of the body. Must be called before the response is written.
 */
export function abandonBody(request: RestRequest, response: RestResponse): void {
  if (request.complete) return;
  if ("stream" in response) {
    const { stream } = response;
    // Closing before the last frame of the response would make the response look truncated.
    stream.once("wantTrailers", () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
  } else {
    response.shouldKeepAlive = false;
  }
}

function tooLarge(maxBytes: number): RestError {
  return new RestError("BODY_TOO_LARGE", `the body must be at most ${maxBytes} bytes long`);
}
