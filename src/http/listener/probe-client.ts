import type { ServerResponse } from "node:http";

const intervalMs = 500;

/**
 * Finds out whether a client that has ended its side of the connection has gone, and if so, ends its call. The client may still wait for
 * the response. So an interim response is sent, which clients accept at any time (RFC 9110, 15.2), except those of HTTP/1.0: the system
 * of a client that has gone answers it by resetting the connection.
 */
export function probeClient(response: ServerResponse): void {
  if (response.headersSent || response.req.httpVersion === "1.0") return;
  const probing = setInterval(() => {
    if (response.headersSent) clearInterval(probing);
    else response.writeContinue();
  }, intervalMs);
  response.once("close", () => clearInterval(probing));
}
