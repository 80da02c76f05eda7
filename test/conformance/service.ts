// The service that the suite calls: it answers as each request asks, and repeats what it received.
import { type DescMessage, type MessageShape, create } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BidiStreamRequestSchema,
  ClientStreamRequestSchema,
  type ConformancePayload_RequestInfo,
  ConformancePayload_RequestInfoSchema,
  type ConformanceService,
  type Error as ErrorMessage,
  type Header,
  IdempotentUnaryRequestSchema,
  ServerStreamRequestSchema,
  UnaryRequestSchema,
  type StreamResponseDefinition,
  type UnaryResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";

/** When a call began that has a timeout, by `performance.now()`. */
export const timedSinceKey = createContextKey<number | undefined>(undefined);

/** `unimplemented` is left out, for calls of a method that does not exist. */
export const conformanceService: Omit<ServiceImpl<typeof ConformanceService>, "unimplemented"> = {
  unary: (request, context) => answer(request.responseDefinition, [pack(UnaryRequestSchema, request)], context),

  idempotentUnary: (request, context) =>
    answer(request.responseDefinition, [pack(IdempotentUnaryRequestSchema, request)], context),

  async clientStream(messages, context) {
    const requests: Any[] = [];
    let definition: UnaryResponseDefinition | undefined;
    for await (const message of messages) {
      if (requests.length === 0) definition = message.responseDefinition;
      requests.push(pack(ClientStreamRequestSchema, message));
    }
    return answer(definition, requests, context);
  },

  async *serverStream(request, context) {
    const { responseDefinition: definition } = request;
    setHeaders(definition, context);
    const requestInfo = describeRequest([pack(ServerStreamRequestSchema, request)], context);
    yield* answers(definition, requestInfo);
    throwAsked(definition, definition?.responseData.length === 0 ? requestInfo : undefined);
  },

  async *bidiStream(messages, context) {
    let definition: StreamResponseDefinition | undefined;
    let isFullDuplex = false;
    let received = 0;
    let sent = 0;
    let requests: Any[] = [];
    for await (const message of messages) {
      requests.push(pack(BidiStreamRequestSchema, message));
      if (received++ === 0) {
        ({ responseDefinition: definition, fullDuplex: isFullDuplex } = message);
        setHeaders(definition, context);
      }
      if (!isFullDuplex) continue;
      const data = definition?.responseData[sent];
      if (data === undefined) break;
      const requestInfo = sent++ === 0 ? describeRequest(requests, context) : infoOf(requests);
      requests = [];
      await sleep(definition?.responseDelayMs);
      yield { payload: { data, requestInfo } };
    }
    const requestInfo = sent === 0 ? describeRequest(requests, context) : undefined;
    yield* answers(definition, requestInfo, sent);
    throwAsked(definition, definition?.responseData.length === 0 ? requestInfo : undefined);
  },
};

const pack = <Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): Any => anyPack(schema, message);

const infoOf = (requests: Any[]): ConformancePayload_RequestInfo =>
  create(ConformancePayload_RequestInfoSchema, { requests });

/** Responds to a unary call or a stream of requests. */
async function answer(definition: UnaryResponseDefinition | undefined, requests: Any[], context: HandlerContext) {
  const requestInfo = describeRequest(requests, context);
  setHeaders(definition, context);
  await sleep(definition?.responseDelayMs);
  const { response } = definition ?? {};
  if (response?.case === "error") throw toConnectError(response.value, requestInfo);
  const data = response?.case === "responseData" ? response.value : new Uint8Array();
  return { payload: { data, requestInfo } };
}

/** Yields the responses of a stream, the first one with what is known of the request. */
async function* answers(
  definition: StreamResponseDefinition | undefined,
  requestInfo: ConformancePayload_RequestInfo | undefined,
  from = 0,
) {
  for (const [index, data] of (definition?.responseData ?? []).slice(from).entries()) {
    await sleep(definition?.responseDelayMs);
    yield { payload: index === 0 && requestInfo !== undefined ? { data, requestInfo } : { data } };
  }
}

function throwAsked(
  definition: StreamResponseDefinition | undefined,
  requestInfo: ConformancePayload_RequestInfo | undefined,
): void {
  if (definition?.error !== undefined) throw toConnectError(definition.error, requestInfo);
}

function toConnectError(
  { code, message, details }: ErrorMessage,
  requestInfo: ConformancePayload_RequestInfo | undefined,
): ConnectError {
  const error = new ConnectError(message ?? "", code as number);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl.replace(/^.*\//, ""), value }));
  if (requestInfo !== undefined) {
    error.details.push({ desc: ConformancePayload_RequestInfoSchema, value: requestInfo });
  }
  return error;
}

function setHeaders(
  definition: UnaryResponseDefinition | StreamResponseDefinition | undefined,
  { responseHeader, responseTrailer }: HandlerContext,
): void {
  append(responseHeader, definition?.responseHeaders);
  append(responseTrailer, definition?.responseTrailers);
}

function append(headers: Headers, added: readonly Header[] = []): void {
  for (const { name, value } of added) for (const each of value) headers.append(name, each);
}

function describeRequest(requests: Any[], context: HandlerContext) {
  const { requestHeader } = context;
  const timeout = timeoutAtStart(context);
  return create(ConformancePayload_RequestInfoSchema, {
    requestHeaders: [...requestHeader].map(([name, value]) => ({ name, value: [value] })),
    requests,
    ...(timeout !== undefined && { timeoutMs: BigInt(Math.round(timeout)) }),
  });
}

/**
 * The suite wants the timeout that was sent, or up to 500 ms less. What is left of it here may be any time less, where this process
 * got no core meanwhile; so the time since the call began is added again, and the result is in the middle of what is accepted.
 */
function timeoutAtStart({ timeoutMs, values }: HandlerContext): number | undefined {
  const since = values.get(timedSinceKey);
  const left = timeoutMs();
  return since === undefined || left === undefined ? undefined : left + (performance.now() - since) - 250;
}
