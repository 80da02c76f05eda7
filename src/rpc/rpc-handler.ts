// Serves RPC: src/rpc/unary serves unary calls, connect-node streams. Calls of methods that do not exist get an error.
import type { Registry } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { closeAfterEarlyAnswer } from "../http/listener/close-after-early-answer.ts";
import { refuseMethodsBut } from "../http/plain-error.ts";
import { requestPathOf } from "../http/request-path.ts";
import { createTypeRegistry } from "../rest/json/type-registry.ts";
import { collectMethods } from "../rest/routing/collect-methods.ts";
import { withStrictJson } from "../rest/strict-rpc-json.ts";
import type { CallHandler } from "./call-handler.ts";
import { endGateWithSignal, endWithSignal } from "./end-with-signal.ts";
import type { Guards } from "./guards.ts";
import { limitCallTime, limitRequestTime } from "./limits/limit-call-time.ts";
import { createSliceInterceptor } from "./limits/take-slice.ts";
import { createConnectHandler } from "./serve-with-connect.ts";
import { isReused } from "../standard-methods/read/reused-response.ts";
import { itemLimitOf } from "../validation/find-oversized.ts";
import { errorDomain } from "./to-connect-error.ts";
import { isCalledWithGet } from "./unary/connect-get.ts";
import { refuseOtherVerbs, refuseOtherVersions, refuseUnknownMethod } from "./unary/refuse-call.ts";
import { createUnaryHandler } from "./unary/unary-handler.ts";

export interface RpcHandlerOptions {
  readonly routes: (router: ConnectRouter) => void;
  /** Registers services whose calls may be open for as long as they like. */
  readonly longLived: (router: ConnectRouter) => void;
  readonly guards: Guards;
  /** Bounds the streams of `longLived`. Default: there is no bound. */
  readonly limitStreams?: (handler: CallHandler) => CallHandler;
  /** The maximum size of a message that is left to connect-node, in streams and in gRPC over HTTP/1.1. */
  readonly maxStreamedBytes: number;
  readonly maxJsonDepth: number;
  /** Resolves the types of google.protobuf.Any in JSON. Defaults to the types in the files of `routes`, and what those import. */
  readonly registry?: Registry;
  /** The maximum duration of a call of `routes`; of one whose response is a stream, that of its request. */
  readonly requestTimeoutMs: number;
  /** Serves requests that are no calls. */
  readonly fallback: CallHandler;
}

/** The largest number of bytes that connect-node takes as a limit. */
const mostBytes = 0xffff_ffff;

export function createRpcHandler(options: RpcHandlerOptions): CallHandler {
  const { routes, longLived, maxStreamedBytes, maxJsonDepth, requestTimeoutMs, fallback } = options;
  const methods = collectMethods(routes);
  const registry = options.registry ?? createTypeRegistry(methods.map(({ method }) => method));
  const { gate, slice, body: bodyLimits, errors, concurrency, streams: openStreams, call, explain } = options.guards;
  // As in REST, an unknown field is an error.
  const jsonOptions = { ignoreUnknownFields: false, registry };
  const readable = new Set(
    methods
      .filter(({ method }) => isCalledWithGet(method))
      .map(({ method: { parent, name } }) => `/${parent.typeName}/${name}`),
  );
  /** How the time of calls is limited, by path. */
  const limited = new Map<string, typeof limitCallTime>();
  const streams = new Set<string>();
  const served = new Set<string>();
  const rpc = createConnectHandler({
    routes(router) {
      routes(withStrictJson(router, { jsonOptions, maxJsonDepth, errorDomain }));
      for (const { requestPath, method } of router.handlers)
        limited.set(requestPath, method.methodKind === "server_streaming" ? limitRequestTime : limitCallTime);
      longLived(router);
      for (const { requestPath, method } of router.handlers) {
        served.add(requestPath);
        if (method.methodKind !== "unary" && !limited.has(requestPath)) streams.add(requestPath);
      }
    },
    requestGate: endGateWithSignal(gate, explain),
    interceptors: [errors, endWithSignal, createSliceInterceptor(slice), concurrency, openStreams, call],
    readMaxBytes: maxStreamedBytes,
    // No compression: to compress the files of reflection takes longer than anything else that clients get without credentials.
    compressMinBytes: mostBytes,
    jsonOptions,
  });
  const rpcStream = options.limitStreams?.(rpc) ?? rpc;
  const unary = createUnaryHandler({
    routes,
    requestGate: gate,
    beforeMessage: slice,
    interceptors: [errors, concurrency, call],
    isReused,
    explain,
    bodyLimits,
    itemLimitOf,
    maxDepth: maxJsonDepth,
    registry,
    timeoutMs: requestTimeoutMs,
    fallback(request, response, values) {
      const path = requestPathOf(request.url ?? "");
      if (!served.has(path))
        return refuseUnknownMethod(request, response) ? undefined : fallback(request, response, values);
      closeAfterEarlyAnswer(request, response);
      limited.get(path)?.(request, response, requestTimeoutMs);
      return streams.has(path) ? rpcStream(request, response, values) : rpc(request, response, values);
    },
  });
  return (request, response, values) => {
    const path = requestPathOf(request.url ?? "");
    const verbs = readable.has(path) ? ["GET", "POST"] : ["POST"];
    const isRefused =
      served.has(path) &&
      (refuseOtherVerbs(verbs, request, response) ||
        refuseMethodsBut(verbs, request, response, path) ||
        refuseOtherVersions(request, response));
    return isRefused ? undefined : unary(request, response, values);
  };
}
