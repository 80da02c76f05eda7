// Serves unary calls over Connect, gRPC and gRPC-Web, straight from the listener to the methods. All other requests are left to
// connect-node, which converts requests and responses to those of fetch: that costs several times as much.
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
} from "@connectrpc/connect";
import type { Message, Registry } from "@bufbuild/protobuf";
import type { HttpRequest } from "../../http/http-messages.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { createCallContext, watchCall } from "../../rest/calls/call-context.ts";
import { invokeUnary } from "../../rest/calls/invoke-unary.ts";
import type { BodyLimits } from "../../rest/calls/body-limits.ts";
import { connectionHeaders } from "../../rest/calls/lazy-headers.ts";
import { abandonBody } from "../../rest/calls/read-body.ts";
import { RestError } from "../../rest/errors/rest-error.ts";
import { toFailure } from "../../rest/errors/to-failure.ts";
import { collectMethods } from "../../rest/routing/collect-methods.ts";
import type { ItemLimitOf } from "../../rest/limits/item-limit.ts";
import type { CallHandler } from "../call-handler.ts";
import { type ExplainError, recorded } from "../explain-error.ts";
import { requestIdKey } from "../request-id-key.ts";
import { errorDomain, withRequestInfo } from "../to-connect-error.ts";
import { type Encoding, createCodecs } from "./codecs.ts";
import { connectProtocol } from "./connect.ts";
import { connectGetProtocol, encodingInUrl, isCalledWithGet } from "./connect-get.ts";
import { grpcProtocol, grpcWebProtocol } from "./grpc.ts";
import { toPlainType } from "./plain-type.ts";
import type { Protocol, UnaryExchange } from "./protocol.ts";

export interface UnaryHandlerOptions {
  /** Registers the services; the same function as for connectNodeAdapter. */
  readonly routes: (router: ConnectRouter) => void;
  /** Called for each call before its body is read. An error that it throws becomes the response. */
  readonly requestGate: (context: HandlerContext) => Promise<void>;
  /** Called when the body of a call has been read, before its message is parsed. The call waits for the promise. */
  readonly beforeMessage: (context: HandlerContext, bodyBytes: number) => Promise<void> | undefined;
  /** Wrap each call, the first one outermost. */
  readonly interceptors: Interceptor[];
  /** Reports whether the method returns the same response to later calls, unchanged. It is then encoded once. */
  readonly isReused: (response: Message, context: HandlerContext) => boolean;
  readonly explain: ExplainError;
  /** Returns the limits of the message of a call that passed the gate. */
  readonly bodyLimits: (context: HandlerContext) => BodyLimits;
  /**
   * Returns how many items a repeated field takes, or entries a map. A message of more than 16 kB that has more is refused before it is
   * parsed; shorter ones are for an interceptor to refuse.
   */
  readonly itemLimitOf: ItemLimitOf;
  readonly maxDepth: number;
  /** Resolves the types of google.protobuf.Any in JSON. */
  readonly registry?: Registry | undefined;
  /** The maximum duration of a call, including its body. A client may allow less. */
  readonly timeoutMs: number;
  /** Serves all other requests. */
  readonly fallback: CallHandler;
}

type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

interface Wire {
  readonly protocol: Protocol;
  readonly encoding: Encoding;
  /** Of responses. */
  readonly contentType: string;
}

const wires: ReadonlyMap<string, Wire> = new Map([
  ...wiresOf(connectProtocol, "proto", "application/proto"),
  ...wiresOf(connectProtocol, "json", "application/json", "application/json; charset=utf-8"),
  ...wiresOf(grpcProtocol, "proto", "application/grpc+proto", "application/grpc"),
  ...wiresOf(grpcProtocol, "json", "application/grpc+json"),
  ...wiresOf(grpcWebProtocol, "proto", "application/grpc-web+proto", "application/grpc-web"),
  ...wiresOf(grpcWebProtocol, "json", "application/grpc-web+json"),
]);

const deniedHeaders: ReadonlySet<string> = new Set(connectionHeaders);

export function createUnaryHandler(options: UnaryHandlerOptions): CallHandler {
  const { requestGate, beforeMessage, interceptors, isReused, explain, bodyLimits, timeoutMs, fallback } = options;
  const codecOf = createCodecs(options.maxDepth, options.itemLimitOf, options.registry);
  const specs = new Map<string, UnarySpec>();
  for (const spec of collectMethods(options.routes)) {
    if (spec.kind === "unary") specs.set(`/${spec.method.parent.typeName}/${spec.method.name}`, spec);
  }

  /** Returns the error for the client. Failures of the service are logged. */
  const toError = (thrown: unknown, { protocol, encoding }: Wire, context: HandlerContext): ConnectError => {
    if (!(thrown instanceof RestError) || context.signal.aborted) return explain(thrown, context);
    const requestId = context.values.get(requestIdKey);
    const { error } = toFailure(thrown, errorDomain);
    // The code that gRPC has for it.
    const isUnparsed = thrown.reason === "BODY_MALFORMED" && encoding === "proto" && protocol.name !== "connect";
    if (isUnparsed) return withRequestInfo(withCode(error, Code.Internal), requestId);
    // The code of an unknown compression in all protocols.
    const isUnknownCoding = thrown.reason === "CONTENT_ENCODING_UNSUPPORTED";
    return withRequestInfo(isUnknownCoding ? withCode(error, Code.Unimplemented) : error, requestId);
  };

  const serve = (spec: UnarySpec, wire: Wire, ...[request, response, values]: Parameters<CallHandler>): void => {
    const { protocol, encoding, contentType } = wire;
    const { method } = spec;
    const { timeoutMs: givenMs = timeoutMs, error: timeoutError } = protocol.timeoutOf(request.headers);

    const fail = (thrown: unknown): void => {
      try {
        protocol.sendError(exchange, recorded(toError(thrown, wire, context), values));
      } catch (cause) {
        // The message or a header of the error cannot be sent.
        protocol.sendError(exchange, toError(new Error("the error cannot be sent", { cause }), wire, context));
      }
    };
    const lifetime = watchCall(response, Math.min(givenMs, timeoutMs), (error) => {
      abandonBody(request, response);
      fail(error);
    });
    const context = createCallContext(method, request, lifetime, deniedHeaders, protocol.name, values);
    const exchange: UnaryExchange = { request, response, contentType, context };

    const finish = (thrown: unknown): void => {
      if (lifetime.signal.aborted) return;
      lifetime.done();
      fail(thrown);
    };
    const refuse = (error: unknown): void => {
      if (!lifetime.signal.aborted) abandonBody(request, response);
      finish(error);
    };
    const invoke = async (message: Message): Promise<void> => {
      try {
        const answer = await invokeUnary(spec, context, message, interceptors);
        if (lifetime.signal.aborted) return;
        const sent = protocol.send(exchange, codecOf(method, encoding).write(answer, isReused(answer, context)));
        if (sent !== undefined) await sent;
        lifetime.done();
      } catch (error) {
        finish(error);
      }
    };
    const receive = (): void => {
      const limits = bodyLimits(context);
      protocol.read(request, limits, (bytes) => {
        if (lifetime.signal.aborted) return;
        if (!(bytes instanceof Buffer)) {
          limits.leaveRoom?.();
          refuse(bytes);
          return;
        }
        const begin = (): void => {
          if (!lifetime.signal.aborted) void invoke(codecOf(method, encoding).read(bytes));
        };
        try {
          const ready = beforeMessage(context, bytes.length);
          if (ready === undefined) begin();
          else ready.then(begin).catch(finish);
        } catch (error) {
          finish(error);
        }
      });
    };

    if (timeoutError !== undefined) refuse(timeoutError);
    else
      requestGate(context)
        .then(() => lifetime.signal.aborted || receive(), refuse)
        .catch(finish);
  };

  return (request, response, values) => {
    const isGet = request.method === "GET";
    const spec = specs.get(isGet ? requestPathOf(request.url ?? "") : (request.url ?? ""));
    const wire = isGet ? getWireOf(spec, request) : wireOf(request);
    // gRPC needs trailers, for which connect-node has a form over HTTP/1.1.
    const isServed =
      spec !== undefined && wire !== undefined && (wire.protocol !== grpcProtocol || "stream" in response);
    if (!isServed) return fallback(request, response, values);
    serve(spec, wire, request, response, values);
    return undefined;
  };
}

function wireOf({ method, headers }: HttpRequest): Wire | undefined {
  if (method !== "POST") return undefined;
  const { "content-type": type = "" } = headers;
  return wires.get(type) ?? wires.get(toPlainType(type));
}

/** Returns undefined for a method that is not called with GET. */
function getWireOf(spec: UnarySpec | undefined, request: HttpRequest): Wire | undefined {
  if (spec === undefined || !isCalledWithGet(spec.method)) return undefined;
  const encoding = encodingInUrl(request);
  return { protocol: connectGetProtocol, encoding, contentType: `application/${encoding}` };
}

function withCode(error: ConnectError, code: Code): ConnectError {
  const changed = new ConnectError(error.rawMessage, code, error.metadata, undefined, error.cause);
  changed.details = error.details;
  return changed;
}

/** @param types the first one is that of responses. */
function wiresOf(protocol: Protocol, encoding: Encoding, ...types: readonly [string, ...string[]]): [string, Wire][] {
  const [contentType] = types;
  return types.map((type) => [type, { protocol, encoding, contentType }]);
}
