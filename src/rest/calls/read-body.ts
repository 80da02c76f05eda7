import { constants } from "node:http2";
import type { RestRequest, RestResponse } from "./call-context.ts";
import { quote, RestError } from "../errors/rest-error.ts";

/** Whether the headers of a request say that no body follows. */
export function hasNoBody(request: RestRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders || request.headers["content-length"] === "0";
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
}

/**
 * Reads a body of at most `maxBytes`. What is longer is not kept; Node throws the rest away once there is an answer.
 *
 * @param onRead is called once, unless the client goes away before the body is complete.
 */
export function readBody(request: RestRequest, maxBytes: number, onRead: (body: Buffer | RestError) => void): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    onRead(new RestError("CONTENT_TYPE_UNSUPPORTED", `the body must not be compressed, got ${quote(encoding)}`));
    return;
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    onRead(tooLarge(maxBytes));
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    request.off("data", onData);
    request.off("end", onEnd);
    request.resume();
    onRead(tooLarge(maxBytes));
  };
  const onEnd = (): void => {
    const [first] = chunks;
    onRead(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length));
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
    stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  } else {
    response.shouldKeepAlive = false;
  }
}

function tooLarge(maxBytes: number): RestError {
  return new RestError("BODY_TOO_LARGE", `the body must be at most ${maxBytes} bytes long`);
}
