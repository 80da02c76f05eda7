import type { Duplex } from "node:stream";
import { errorBody, type PlainError } from "../plain-error.ts";
import { linger } from "./close-in-stages.ts";

const reasonPhrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  505: "HTTP Version Not Supported",
};

/** Returns the response to an error of Node's HTTP/1.1 parser or timers; undefined if the client has disconnected. */
export function refusalOf(error: NodeJS.ErrnoException & { reason?: string }): PlainError | undefined {
  switch (error.code) {
    case "ECONNRESET":
    case "EPIPE":
    case "ETIMEDOUT":
      return undefined;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return requestTimeout;
    case "HPE_HEADER_OVERFLOW":
      return {
        code: 431,
        status: "INVALID_ARGUMENT",
        reason: "REQUEST_HEADERS_TOO_LARGE",
        message: "The request's line and headers are larger than this server accepts.",
      };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return {
        code: 413,
        status: "INVALID_ARGUMENT",
        reason: "CHUNK_EXTENSIONS_TOO_LARGE",
        message: "The request's chunk extensions are larger than this server accepts.",
      };
    case "HPE_INVALID_VERSION":
      // For other reasons it has no version at all, such as `HTTP/x`.
      return error.reason === "Invalid HTTP version" ? unsupportedVersion : malformed(error);
    case undefined:
    default:
      return malformed(error);
  }
}

function malformed({ reason }: { readonly reason?: string }): PlainError {
  const why = reason === undefined ? "" : `: ${reason}`;
  return badRequest(`The request is not valid HTTP/1.1${why}.`);
}

export const requestTimeout: PlainError = {
  code: 408,
  status: "DEADLINE_EXCEEDED",
  reason: "REQUEST_TIMEOUT",
  message: "The request took too long to arrive.",
};

export const noProxy: PlainError = {
  code: 405,
  status: "UNIMPLEMENTED",
  reason: "METHOD_NOT_SUPPORTED",
  message: "This server is not a proxy: it does not support CONNECT.",
};

export const unknownExpectation: PlainError = {
  code: 417,
  status: "INVALID_ARGUMENT",
  reason: "EXPECTATION_UNKNOWN",
  message: "The only expectation that this server supports is 100-continue.",
};

/** RFC 9110, 15.6.6. */
export const unsupportedVersion: PlainError = {
  code: 505,
  status: "UNIMPLEMENTED",
  reason: "HTTP_VERSION_NOT_SUPPORTED",
  message: "This server supports the versions 1.0 and 1.1 of HTTP, and 2 on a connection that begins with its preface.",
};

/** RFC 9112, 6.1. */
export const unsupportedCoding: PlainError = {
  code: 501,
  status: "UNIMPLEMENTED",
  reason: "TRANSFER_CODING_NOT_SUPPORTED",
  message:
    "The only transfer coding that this server supports is chunked; Content-Encoding says how a body is compressed.",
};

export const internalError: PlainError = {
  code: 500,
  status: "INTERNAL",
  reason: "INTERNAL",
  message: "Internal server error.",
};

/** The error for a client that sends more requests on a connection before it has the answers to those before. */
export function tooManyPipelined(max: number): PlainError {
  return {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    reason: "RATE_LIMITED",
    message: `A connection may have ${max} requests in flight; send more after some of them are answered.`,
    metadata: { limit: "connection-requests" },
    headers: { "Retry-After": "1" },
  };
}

export function badRequest(message: string): PlainError {
  return { code: 400, status: "INVALID_ARGUMENT", reason: "REQUEST_MALFORMED", message };
}

/**
 * Sends an HTTP/1.1 error on a socket that has no response object, and closes it. The socket stays open for a moment, because
 * destroying it with unread input would discard the response.
 */
export function refuse(socket: Duplex, error: PlainError): void {
  if (socket.writableEnded) return;
  const body = errorBody(error);
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.code} ${reasonPhrases[error.code] ?? "Error"}\r\n${lines.join("")}\r\n${body}`);
  linger(socket);
}
