import type { HttpRequest, HttpResponse } from "../http-messages.ts";

/**
 * Sends `100 Continue` when the body is read for the first time, so that a request that is refused by its head is refused before
 * its client sends the body (RFC 9110, 10.1.1).
 */
export function continueWhenRead(request: HttpRequest, response: HttpResponse): void {
  // Node calls `_read` when something begins to read a stream.
  const own = "_read" as const;
  const read = request[own].bind(request);
  request[own] = (size) => {
    request[own] = read;
    if (!response.headersSent && !response.destroyed) response.writeContinue();
    read(size);
  };
}
