// Calls of methods from within the server, for facades: other protocols over the same methods. They use no socket and encode nothing,
// but they pass the same gate and interceptors as calls over the wire, so a facade can do nothing that its client may not do.
import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  create,
} from "@bufbuild/protobuf";
import { type ConnectRouter, type HandlerContext, type MethodImplSpec, createContextValues } from "@connectrpc/connect";
import { invokeUnary } from "../rest/calls/invoke-unary.ts";
import { createResponseHeaders } from "../rest/calls/lazy-headers.ts";
import { joinWrites, joinedOf } from "../standard-methods/write/joined-write.ts";
import { collectMethods } from "../rest/routing/collect-methods.ts";
import { clientAddressKey } from "./call-origin.ts";
import type { Guards } from "./guards.ts";
import { createSliceInterceptor } from "./limits/take-slice.ts";
import { handOnCaller } from "./request-gate.ts";
import { requestIdKey } from "./request-id-key.ts";

/**
 * What a facade has received. `requestHeader` has the credential; `values` are those that the gate reads, as for calls over the wire;
 * `responseHeader` gets what the response should have, such as the limits of the caller's rates.
 */
type FacadeRequest = Pick<HandlerContext, "requestHeader" | "responseHeader" | "signal" | "values">;

/** Both functions return the response, and reject with the ConnectError that a client of the method would get. */
export interface InProcess {
  /** Calls a method as the client that sent a request: authenticates it, and counts the call. */
  ofClient<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
    request: FacadeRequest,
  ): Promise<MessageShape<Output>>;
  /**
   * Calls a method as the caller of another call, whose context is given. The limits of callers have counted that call, and do not count
   * this one. The method requires its own permission and validates its request. It writes in the transaction that the context has joined
   * writes to (`joinWrites`), if any.
   */
  ofCaller<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
    context: FacadeRequest,
  ): Promise<MessageShape<Output>>;
}

type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

/** @param routes registers the services whose methods can be called. */
export function createInProcess(
  routes: (router: ConnectRouter) => void,
  { gate, slice, errors, concurrency, call }: Omit<Guards, "body" | "explain" | "streams">,
): InProcess {
  const specs = new Map<DescMethod, UnarySpec>();
  for (const spec of collectMethods(routes)) if (spec.kind === "unary") specs.set(spec.method, spec);
  const ofClient = [errors, createSliceInterceptor(slice), concurrency, call];
  const ofCaller = [errors, call];

  const invoke = (context: HandlerContext, message: Message, interceptors: typeof ofCaller): Promise<Message> => {
    const spec = specs.get(context.method);
    if (spec === undefined) throw new Error(`${context.method.name} is not a method that can be called in process`);
    return invokeUnary(spec, context, message, interceptors);
  };

  const inProcess: {
    readonly [Name in keyof InProcess]: (method: DescMethod, init: never, request: FacadeRequest) => Promise<Message>;
  } = {
    async ofClient(method, init, request) {
      const context = contextOf(method, request);
      await gate(context);
      return invoke(context, create(method.input, init), ofClient);
    },
    async ofCaller(method, init, { requestHeader, signal, values: outer }) {
      const values = createContextValues()
        .set(requestIdKey, outer.get(requestIdKey))
        .set(clientAddressKey, outer.get(clientAddressKey));
      const joined = joinedOf(outer);
      handOnCaller(outer, values, joined !== undefined);
      joinWrites(values, joined);
      const context = contextOf(method, { requestHeader, responseHeader: createResponseHeaders(), signal, values });
      return invoke(context, create(method.input, init), ofCaller);
    },
  };
  return inProcess as unknown as InProcess;
}

function contextOf(method: DescMethod, request: FacadeRequest): HandlerContext {
  return {
    ...request,
    method,
    service: method.parent,
    protocolName: "in process",
    requestMethod: "POST",
    url: `in-process:/${method.parent.typeName}/${method.name}`,
    timeoutMs: () => undefined,
    responseTrailer: createResponseHeaders(),
  };
}
