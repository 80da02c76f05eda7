import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createLazyHeaders, createResponseHeaders } from "./lazy-headers.ts";
import { RestError } from "../errors/rest-error.ts";

export type RestRequest = IncomingMessage | Http2ServerRequest;
export type RestResponse = ServerResponse | Http2ServerResponse;

/** The lifetime of a call, which ends when the call is answered, the client disconnects or the deadline passes. */
export interface CallLifetime {
  /** Aborts when the call ends early: the client disconnected or the deadline passed. */
  readonly signal: AbortSignal;
  /** The deadline, in milliseconds as returned by Date.now(). */
  readonly deadline: number | undefined;
  /** Marks the call as answered, after which nothing ends it early. */
  done(): void;
  /** Ends the call because its timeout of `afterMs` has expired. */
  expire(afterMs: number): void;
}

/** The maximum delay of a Node timer; one with a longer delay fires immediately. */
const longestMs = 2 ** 31 - 1;

/** @param onEnd called at most once, when the call ends early; never after `done`. */
export function watchCall(
  response: RestResponse,
  timeoutMs: number | undefined,
  onEnd: (error: RestError) => void,
): CallLifetime {
  const controller = new AbortController();
  let isDone = false;
  let timer: NodeJS.Timeout | undefined;
  function done(): void {
    isDone = true;
    clearTimeout(timer);
  }
  function end(reason: "CLIENT_GONE" | "TIMEOUT", message: string, code: Code): void {
    if (isDone) return;
    done();
    controller.abort(new ConnectError(message, code));
    onEnd(new RestError(reason, message));
  }
  function expire(afterMs: number): void {
    end("TIMEOUT", `the call took longer than ${afterMs} ms`, Code.DeadlineExceeded);
  }
  if (timeoutMs !== undefined) timer = setTimeout(expire, Math.min(timeoutMs, longestMs), timeoutMs);
  response.on("close", () => end("CLIENT_GONE", "the client has disconnected", Code.Canceled));
  const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
  return { signal: controller.signal, deadline, done, expire };
}

/**
 * Creates the context of one call, for the method and interceptors. Connect reads every property of it for each call, so
 * getters would defer nothing. Instead, headers, which are expensive to create, are lazy objects.
 */
export function createCallContext(
  method: DescMethod,
  request: RestRequest,
  lifetime: CallLifetime,
  deniedHeaders: ReadonlySet<string>,
  protocolName: string,
  values: ContextValues = createContextValues(),
): HandlerContext {
  const { deadline, signal } = lifetime;
  return {
    method,
    service: method.parent,
    protocolName,
    requestMethod: request.method ?? "",
    url: absoluteUrl(request),
    signal,
    timeoutMs: () => (deadline === undefined ? undefined : deadline - Date.now()),
    requestHeader: createLazyHeaders(request.headers, deniedHeaders),
    responseHeader: createResponseHeaders(),
    responseTrailer: createResponseHeaders(),
    values,
  };
}

function absoluteUrl(request: RestRequest): string {
  const { headers, url = "/" } = request;
  const authority = headers[":authority"] ?? headers.host ?? "localhost";
  return `${schemeOf(request)}://${String(authority)}${url}`;
}

/** Does not read the socket of HTTP/2, which is behind a proxy object. */
function schemeOf(request: RestRequest): string {
  if ("stream" in request) return request.scheme === "https" ? "https" : "http";
  return "encrypted" in request.socket && request.socket.encrypted ? "https" : "http";
}
