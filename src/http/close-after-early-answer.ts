import type { ServerResponse } from "node:http";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";

/**
 * Closes an HTTP/1.1 connection with a response that is sent before the request body was read, for example because the body is
 * too large. The rest of the body precedes the next request on the connection, and Connect stops reading it, so that request
 * would never be answered.
 */
export function closeAfterEarlyAnswer(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) return;
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return writeHead(...head);
  };
}
