import { constants } from "node:http2";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";

/** Closes the stream of a request, or its connection over HTTP/1.1, whatever is missing of it or of its answer. */
export function cutRequest(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) response.stream.close(constants.NGHTTP2_CANCEL);
  else request.socket.destroy();
}
