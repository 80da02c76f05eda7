import type { ServerResponse } from "node:http";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./handler.ts";

/**
 * Ends an HTTP/1.1 connection with an answer that is given before the request's body has been read, because it is too
 * large for example. What is left of the body would stand before the next request on the connection, and Connect stops
 * reading it, so that request would wait for ever.
 */
export function closeAfterEarlyAnswer(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) return;
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return writeHead(...head);
  };
}
