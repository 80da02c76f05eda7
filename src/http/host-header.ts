import type { HttpRequest } from "./http-messages.ts";

const hostCharacters = /^[\w.:[\]%-]+$/;

/**
 * Returns a function that checks whether a request has a valid host, which RFC 9112 (3.2) requires and code that builds URLs
 * relies on. An HTTP/1.0 request without a host, as old health probes send, gets the host `localhost`.
 */
export function createHostCheck(): (request: HttpRequest) => boolean {
  // Cached, because nearly all requests have the same host.
  let accepted = "localhost";

  return (request) => {
    if (request.httpVersion === "1.0") request.headers.host ??= "localhost";
    const host = "authority" in request ? request.authority : request.headers.host;
    if (host === accepted) return true;
    if (host === undefined || !hostCharacters.test(host) || !URL.canParse(`http://${host}`)) return false;
    accepted = host;
    return true;
  };
}
