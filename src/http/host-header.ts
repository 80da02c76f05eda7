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
    if (countHosts(request.rawHeaders) > 1) return false;
    const host = "authority" in request ? request.authority : request.headers.host;
    if (host === accepted) return true;
    if (host === undefined || !hostCharacters.test(host) || !URL.canParse(`http://${host}`)) return false;
    accepted = host;
    return true;
  };
}

/** Counts the lines of the header: Node passes the first one on, and a proxy may have read another. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}
