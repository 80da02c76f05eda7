import type { HttpRequest, HttpResponse } from "./http-messages.ts";

/**
 * Sends `100 Continue` when the body is read for the first time, so that a request that is refused by its head is refused before
 * its client sends the body (RFC 9110, 10.1.1).
 */
export function continueWhenRead(request: HttpRequest, response: HttpResponse): void {
  const read = request._read.bind(request);
  request._read = (size) => {
    request._read = read;
    if (!response.headersSent && !response.destroyed) response.writeContinue();
    read(size);
  };
}
