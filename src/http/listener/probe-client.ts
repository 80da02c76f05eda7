import type { ServerResponse } from "node:http";

const intervalMs = 500;

/**
 * Ends the connection of a client that has gone, so that its call ends. To be called when a client has ended its side of the
 * connection, which means that it sends nothing more, and often that nobody waits for the response. Which of them shows when
 * something is sent: the system of a client that has gone resets the connection. Clients accept interim responses at any time
 * (RFC 9110, 15.2), except those of HTTP/1.0.
 */
export function probeClient(response: ServerResponse): void {
  if (response.headersSent || response.req.httpVersion === "1.0") return;
  const probing = setInterval(() => {
    if (response.headersSent) clearInterval(probing);
    else response.writeContinue();
  }, intervalMs);
  response.once("close", () => clearInterval(probing));
}
