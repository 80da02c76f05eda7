import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createLazyHeaders } from "./lazy-headers.ts";
import { RestError } from "../errors/rest-error.ts";

export type RestRequest = IncomingMessage | Http2ServerRequest;
export type RestResponse = ServerResponse | Http2ServerResponse;

/** How long a call lasts: until it is answered, its client goes away or its time is over. */
export interface CallLifetime {
  /** Aborts when the call ends without an answer of its method. */
  readonly signal: AbortSignal;
  /** When the call must be done, in the milliseconds of Date.now(). */
  readonly deadline: number | undefined;
  /** Says that there is an answer: nothing ends the call early any more. */
  done(): void;
  /** Ends the call because it has lasted so long. */
  expire(afterMs: number): void;
}

/** The longest that a timer of Node can run; a longer one runs out at once. */
const longestMs = 2 ** 31 - 1;

/** @param onEnd is called when the call ends early, once, and not after `done`. */
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
  response.once("close", () => end("CLIENT_GONE", "the client has gone", Code.Canceled));
  const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
  return { signal: controller.signal, deadline, done, expire };
}

/**
 * The context of one call, for handlers and interceptors. Connect reads every property of it for each call, so getters
 * would defer nothing: what is dear to make, the request headers, is itself lazy.
 */
export function createCallContext(
  method: DescMethod,
  request: RestRequest,
  lifetime: CallLifetime,
  deniedHeaders: ReadonlySet<string>,
  values: ContextValues = createContextValues(),
): HandlerContext {
  const { deadline, signal } = lifetime;
  return {
    method,
    service: method.parent,
    protocolName: "rest",
    requestMethod: request.method ?? "",
    url: absoluteUrl(request),
    signal,
    timeoutMs: () => (deadline === undefined ? undefined : deadline - Date.now()),
    requestHeader: createLazyHeaders(request.headers, deniedHeaders),
    responseHeader: new Headers(),
    responseTrailer: new Headers(),
    values,
  };
}

function absoluteUrl({ headers, socket, url = "/" }: RestRequest): string {
  const scheme = "encrypted" in socket && socket.encrypted ? "https" : "http";
  const authority = headers[":authority"] ?? headers.host ?? "localhost";
  return `${scheme}://${String(authority)}${url}`;
}
