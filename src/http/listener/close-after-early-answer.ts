import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../http-messages.ts";

/**
 * Closes an HTTP/1.1 connection or an HTTP/2 stream with a response that is sent before the request body was read, for example
 * because the body is too large. Over HTTP/1.1, the rest of the body precedes the next request on the connection, and Connect
 * stops reading it, so that request would never be answered. Over HTTP/2, what is not read stays in the window of the connection,
 * until no request on it can send a body.
 */
export function closeAfterEarlyAnswer(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) {
    const { stream } = response;
    // Closing before the trailers are written would make the response look truncated.
    stream.once("wantTrailers", () =>
      setImmediate(() => {
        if (!request.complete) stream.close(constants.NGHTTP2_NO_ERROR);
      }),
    );
    return;
  }
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return writeHead(...head);
  };
}
