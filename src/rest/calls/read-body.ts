import { constants } from "node:http2";
import { decompressorOf } from "./content-coding.ts";
import type { RestRequest, RestResponse } from "./call-context.ts";
import { collectPieces } from "./collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

/** Whether the headers of a request say that no body follows. */
export function hasNoBody(request: RestRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders || request.headers["content-length"] === "0";
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
}

/**
 * Reads a body of at most `maxBytes`, and inflates it to no more than that. What is longer is not kept; Node throws the
 * rest away once there is an answer.
 *
 * @param onRead is called once, unless the client goes away before the body is complete.
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function readBody(request: RestRequest, maxBytes: number, onRead: (body: Buffer | RestError) => void): void {
  const decompress = decompressorOf(request.headers["content-encoding"]);
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
    // Over HTTP/2 a body also ends when its stream is reset with NO_ERROR.
    if (request.aborted) return;
    const body = pieces.take();
    if (decompress === undefined || length === 0) onRead(body);
    else decompress(body, maxBytes, onRead);
  };
  request.on("data", onData);
  request.on("end", onEnd);
  // Without a listener the error of a client that went away would be thrown; the response's "close" tells of it.
  request.on("error", () => {});
}

/** Makes the next answer the last word: what is missing of the body is not waited for. Call before it is written. */
export function abandonBody(request: RestRequest, response: RestResponse): void {
  if (request.complete) return;
  if ("stream" in response) {
    const { stream } = response;
    // Not before the answer's last frame, or the client takes the answer for cut.
    stream.once("wantTrailers", () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
  } else {
    response.shouldKeepAlive = false;
  }
}

function tooLarge(maxBytes: number): RestError {
  return new RestError("BODY_TOO_LARGE", `the body must be at most ${maxBytes} bytes long`);
}
