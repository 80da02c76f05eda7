import type { EventEmitter } from "node:events";
import proxyAddress from "proxy-addr";
import { within } from "../tracing/active-span.ts";
import { parseTraceParent } from "../tracing/trace-parent.ts";
import type { Trace, Tracing } from "../tracing/tracing.ts";
import type { CallRecord } from "./call-record.ts";
import { peerOf } from "./client-address.ts";
import type { HttpRequest } from "./http-messages.ts";
import { requestPathOf } from "./request-path.ts";

/** Begins the trace of a request, or continues that of a trusted caller. Returns undefined if there is none. */
export type BeginTrace = (request: HttpRequest) => Trace | undefined;

/** What asks them each second is nobody's call. */
const untraced: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** @param trustedProxies the addresses and subnets of callers whose traces are continued, and who say which calls are recorded. */
export function createBeginTrace(tracing: Tracing, trustedProxies: readonly string[]): BeginTrace {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (request) => {
    if (untraced.has(requestPathOf(request.url ?? ""))) return undefined;
    const parent = parseTraceParent(request.headers["traceparent"]);
    const peer = parent === undefined ? undefined : peerOf(request);
    return tracing.begin("request", parent, peer !== undefined && isTrusted(peer, 0));
  };
}

/** Handles a request as a part of its trace. */
export function handleInTrace<Result>(
  request: HttpRequest,
  record: CallRecord,
  trace: Trace | undefined,
  handle: () => Result,
): Result {
  if (trace === undefined) return handle();
  record.trace = trace;
  const { span } = trace;
  if (span === undefined) return handle();
  // A body comes from its connection, which is no part of the call: what is done when it has come would not be either.
  const source: EventEmitter = request;
  const emit = source.emit.bind(source);
  source.emit = (...event: Parameters<EventEmitter["emit"]>) => within(span, () => emit(...event));
  return within(span, handle);
}

/** Ends the span of a request, with what has become known of it. */
export function endTrace(request: HttpRequest, record: CallRecord, status: number, requestId: string): void {
  const { trace, method, protocol = "", failure } = record;
  if (trace?.span === undefined) return;
  const name = method && `${method.parent.typeName}/${method.name}`;
  const code = failure?.name ?? (status < 400 ? "OK" : undefined);
  const isFailure = (failure?.http ?? status) >= 500;
  trace.span.end(
    {
      "http.request.method": request.method ?? "",
      "http.response.status_code": status,
      "tenantry.request_id": requestId,
      ...(name !== undefined && {
        "rpc.method": name,
        "rpc.system.name": protocol === "connect" ? "connectrpc" : protocol,
      }),
      ...(name !== undefined && code !== undefined && { "rpc.response.status_code": code }),
    },
    isFailure ? (failure?.name ?? String(status)) : undefined,
    name ?? request.method,
  );
}
