import type { HttpRequest } from "./handler.ts";

const hostCharacters = /^[\w.:[\]%-]+$/;

/**
 * Whether a request names a well-formed host, as RFC 9112 (3.2) demands; what builds URLs later relies on it. Only
 * HTTP/1.0 may leave it out, as old health probes do, and then reads as `localhost`.
 */
export function createHostCheck(): (request: HttpRequest) => boolean {
  // Nearly all requests name the same host.
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
