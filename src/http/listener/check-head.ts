import type { HttpRequest } from "../http-messages.ts";

const hostCharacters = /^[\w.:[\]%-]+$/;

/** Returns what is wrong with the head of a request; undefined if nothing is. */
type HeadCheck = (request: HttpRequest) => string | undefined;

/**
 * Creates a function that checks that a request has a valid host, which RFC 9112 (3.2) requires and code that builds URLs relies
 * on, and credentials at most once. An HTTP/1.0 request without a host, as old health probes send, gets the host `localhost`.
 */
export function createHeadCheck(): HeadCheck {
  // Cached, because nearly all requests have the same host.
  let accepted = "localhost";

  const hasHost = (request: HttpRequest): boolean => {
    if (request.httpVersion === "1.0") request.headers.host ??= "localhost";
    if (isRepeated("host", request)) return false;
    const host = "authority" in request ? request.authority : request.headers.host;
    if (host === accepted) return true;
    if (host === undefined || !hostCharacters.test(host) || !URL.canParse(`http://${host}`)) return false;
    accepted = host;
    return true;
  };

  return (request) => {
    if (!hasHost(request)) return "The request does not name a valid host.";
    if (isRepeated("authorization", request)) return "The request has more than one Authorization header.";
    return undefined;
  };
}

/**
 * Checks whether a request has several lines of a header. Node uses the first one, while a proxy before it may have used another.
 *
 * @param header in lower case.
 */
function isRepeated(header: string, { rawHeaders }: HttpRequest): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === header.length && name.toLowerCase() === header) count++;
  }
  return count > 1;
}
