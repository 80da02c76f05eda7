import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Answers a request over HTTP/1.1 or HTTP/2. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void | Promise<void>;

export function isHttp2(response: HttpResponse): response is Http2ServerResponse {
  return "stream" in response;
}
