import { constants } from "node:http2";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";

/**
 * Closes the stream of a request, or its connection over HTTP/1.1, whatever is missing of it or of its answer. Does nothing when the answer
 * has been sent: the connection may have another request.
 */
export function cutRequest(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) response.stream.close(constants.NGHTTP2_CANCEL);
  else if (!response.writableFinished) request.socket.destroy();
}
