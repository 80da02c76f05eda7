import { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import { cutRequest } from "../../http/cut-request.ts";
import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";

/** The time to send a DEADLINE_EXCEEDED response. */
const answerMs = 1000;

/**
 * Limits the duration of an RPC, including its body. A client's deadline applies if it is shorter; otherwise the deadline is
 * `timeoutMs`, after which Connect responds with DEADLINE_EXCEEDED. If the call still does not end (for example because its
 * body never ends), its stream or connection is closed.
 */
export function limitCallTime(request: HttpRequest, response: HttpResponse, timeoutMs: number): void {
  const { headers } = request;
  if (headers["content-type"]?.startsWith("application/grpc") === true) {
    const given = headers["grpc-timeout"];
    if (!isShorter(typeof given === "string" ? grpcTimeoutMs(given) : undefined, timeoutMs)) {
      headers["grpc-timeout"] = `${timeoutMs}m`;
    }
  } else {
    const given = headers["connect-timeout-ms"];
    if (!isShorter(typeof given === "string" ? Number(given) : undefined, timeoutMs)) {
      headers["connect-timeout-ms"] = String(timeoutMs);
    }
  }
  const timer = setTimeout(cutRequest, timeoutMs + answerMs, request, response);
  response.once("close", () => clearTimeout(timer));
}

/** Limits the time in which the request of a stream arrives. Only its client limits how long the stream takes. */
export function limitRequestTime(request: HttpRequest, response: HttpResponse, timeoutMs: number): void {
  const timer = setTimeout(cutRequest, timeoutMs, request, response);
  const stop = (): void => clearTimeout(timer);
  request.once("end", stop);
  response.once("close", stop);
}

/** Returns false for no timeout, and true for one that is not a number, which Connect rejects. */
function isShorter(givenMs: number | undefined, timeoutMs: number): boolean {
  return givenMs !== undefined && !(givenMs > timeoutMs);
}

/** Returns NaN for one that is invalid, which Connect rejects. */
function grpcTimeoutMs(given: string): number {
  return parseTimeout(given, Number.POSITIVE_INFINITY).timeoutMs ?? Number.NaN;
}
