import type { IncomingMessage } from "node:http";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../http-messages.ts";
import { answerError, type PlainError } from "../plain-error.ts";
import { badRequest, unsupportedCoding, unsupportedVersion } from "./refuse.ts";

const hostCharacters = /^[\w.:[\]%-]+$/;

/** Returns the error for a request with a wrong head; undefined if nothing is wrong. */
type HeadCheck = (request: HttpRequest) => PlainError | undefined;

/**
 * Creates a function that checks that a request has a version and a framing that the server supports, a valid host, which RFC 9112 (3.2)
 * requires and code that builds URLs relies on, and credentials at most once. An HTTP/1.0 request without a host, as old health probes
 * send, gets the host `localhost`.
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
    const problem = "stream" in request ? undefined : problemOfFraming(request);
    if (problem !== undefined) return problem;
    if (!hasHost(request)) return badRequest("The request does not name a valid host.");
    if (isRepeated("authorization", request)) return badRequest("The request has more than one Authorization header.");
    return undefined;
  };
}

/** Answers a request with a wrong head, and ends its connection: what follows may be meant otherwise than it would be read. */
export function refuseHead(response: HttpResponse, problem: PlainError): void {
  if (!isHttp2(response)) response.shouldKeepAlive = false;
  answerError(response, problem);
}

/**
 * Node's parser also reads `HTTP/2.0` and `HTTP/0.9` in the request line, removes chunks and leaves other codings to the server, and takes
 * a body in chunks from a client of HTTP/1.0, whose framing RFC 9112 (6.1) calls faulty.
 */
function problemOfFraming({ headers, httpVersion, httpVersionMajor }: IncomingMessage): PlainError | undefined {
  if (httpVersionMajor !== 1) return unsupportedVersion;
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (httpVersion === "1.0") return badRequest("A request of HTTP/1.0 has no Transfer-Encoding.");
  return coding.toLowerCase() === "chunked" ? undefined : unsupportedCoding;
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
