import { constants } from "node:http2";
import { type Decompressor, decompressorOf } from "./content-coding.ts";
import type { BodyLimits } from "./body-limits.ts";
import type { RestRequest, RestResponse } from "./call-context.ts";
import { collectPieces } from "./collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

export function hasNoBody(request: RestRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders || request.headers["content-length"] === "0";
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
}

/** Receives a body, a RestError that says what is wrong with it, or the error of `makeRoom`. */
type OnRead = (body: Buffer | Error) => void;

/**
 * Reads and decompresses a body. The rest of one that is too long is discarded.
 *
 * @param onRead called once, unless the client disconnects before the body is complete.
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function readBody(request: RestRequest, limits: BodyLimits, onRead: OnRead): void {
  const decompress = decompressorOf(request.headers["content-encoding"]);
  readBytes(request, limits, (body) => {
    if (decompress === undefined || body instanceof Error || body.length === 0) onRead(body);
    else inflate(body, decompress, limits, onRead);
  });
}

/** Decompresses a body, or the message in it, when there is room for what it may inflate to. */
export function inflate(body: Buffer, decompress: Decompressor, limits: BodyLimits, onRead: OnRead): void {
  const run = (): void => decompress(body, limits.maxBytes, onRead);
  const room = limits.makeRoom?.();
  if (room === undefined) run();
  else room.then(run, onRead);
}

/**
 * Reads a body as it was sent. The rest of one that is too long is discarded.
 *
 * @param onRead called once, unless the client disconnects before the body is complete.
 */
export function readBytes(request: RestRequest, limits: BodyLimits, onRead: OnRead): void {
  const { maxBytes, freeBytes = maxBytes, makeRoom } = limits;
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    onRead(tooLarge(maxBytes));
    return;
  }
  const pieces = collectPieces();
  let length = 0;
  const refuse = (error: Error): void => {
    request.off("data", onData);
    request.off("end", onEnd);
    request.resume();
    onRead(error);
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > maxBytes) {
      refuse(tooLarge(maxBytes));
      return;
    }
    pieces.add(chunk);
    const room = length > freeBytes ? makeRoom?.() : undefined;
    if (room === undefined) return;
    request.pause();
    room.then(() => void request.resume(), refuse);
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
 * Makes the response the end of the connection (HTTP/1.1, announced by a header) or of the stream (HTTP/2), so that the rest of the body
 * need not be read. Must be called before the response is written.
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
