import type { Message } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import type { Route, ServableSpec } from "./calls/route.ts";
import { invalidFields, RestError } from "./errors/rest-error.ts";
import type { FailureEncoder, FailureWriter } from "./calls/write-failure.ts";
import type { RouteMatch } from "./routing/route-trie.ts";
import type { EventId } from "./streams/framing/event-framing.ts";
import { createClientStreamServer } from "./streams/serve-client-stream.ts";
import { lineTypes } from "./streams/framing/line-framing.ts";
import { createListLinesServer } from "./streams/serve-list-lines.ts";
import { createServerStreamServer } from "./streams/serve-server-stream.ts";
import { answer } from "./calls/answer.ts";
import type { BodyLimits } from "./calls/body-limits.ts";
import { createCallContext, type RestRequest, type RestResponse, watchCall } from "./calls/call-context.ts";
import type { Call } from "./calls/call.ts";
import { decompressorOf } from "./calls/content-coding.ts";
import { jsonType } from "./calls/encode-response.ts";
import { invokeUnary } from "./calls/invoke-unary.ts";
import { negotiateMediaType } from "./calls/negotiate.ts";
import { readPreconditions } from "./calls/preconditions.ts";
import { abandonBody, hasNoBody, readBody } from "./calls/read-body.ts";
import { setHeaders } from "./calls/send-response.ts";
import { readTimeout } from "./calls/read-timeout.ts";
import type { Presentation } from "./calls/system-parameters.ts";

interface CallOptions {
  readonly requestGate: ((context: HandlerContext) => void | Promise<void>) | undefined;
  readonly beforeMessage: ((context: HandlerContext, bodyBytes: number) => Promise<void> | undefined) | undefined;
  readonly interceptors: Interceptor[];
  readonly isReused: (response: Message, context: HandlerContext) => boolean;
  readonly deniedHeaders: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  readonly bodyLimits: ((context: HandlerContext) => BodyLimits) | undefined;
  readonly timeoutMs: number | undefined;
  readonly fail: FailureWriter;
  readonly encodeFailure: FailureEncoder;
  readonly eventId: EventId | undefined;
  readonly heartbeatMs: number;
}

type UnarySpec = Extract<ServableSpec, { kind: "unary" }>;

/** What a method returns is for its caller only and may change at any time, so a cache must ask each time, with any ETag. */
const uncached = ["cache-control", "private, no-cache"] as const;

/**
 * Creates a function that serves a request that matched a route: calls the gate with the head of the request, reads the
 * body, binds the request message, invokes the method and sends the response.
 *
 * @returns a function that throws RestError if the head of the request is invalid.
 */
export function createCallServer(
  options: CallOptions,
): (
  request: RestRequest,
  response: RestResponse,
  match: RouteMatch<Route>,
  rawQuery: string,
  values: ContextValues | undefined,
) => void {
  const { requestGate, beforeMessage, interceptors, deniedHeaders, maxBodyBytes, bodyLimits, timeoutMs, fail } =
    options;

  function bind(call: Call, body: Buffer | undefined): Message {
    const { request, match, query, preconditions } = call;
    const contentType = request.headers["content-type"];
    const message = match.route.binding.bind({ pathValues: match.values, query, body, contentType });
    if (preconditions !== undefined) match.route.checkEtag(message, preconditions);
    return message;
  }

  async function invoke(call: Call, spec: UnarySpec, message: Message): Promise<void> {
    const { context, lifetime } = call;
    try {
      const answered = await invokeUnary(spec, context, message, interceptors);
      if (lifetime.signal.aborted) return;
      const sent = answer(call, answered, options.isReused(answered, context));
      if (sent !== undefined) await sent;
      lifetime.done();
    } catch (error) {
      finish(call, error);
    }
  }

  /** Reads the body, binds the request message and calls `onMessage` with it. Responds with an error if one of these fails. */
  function receive(call: Call, onMessage: (message: Message) => void): void {
    const { request, response, lifetime, match } = call;
    const begin = (body: Buffer | undefined): void => {
      try {
        const ready = beforeMessage?.(call.context, body?.length ?? 0);
        if (ready === undefined) onMessage(bind(call, body));
        else
          ready
            .then(() => void (lifetime.signal.aborted || onMessage(bind(call, body))))
            .catch((error: unknown) => finish(call, error));
      } catch (error) {
        finish(call, error);
      }
    };
    if (hasNoBody(request)) {
      decompressorOf(request.headers["content-encoding"]);
      begin(undefined);
      return;
    }
    const { binding, spec } = match.route;
    const { takesBody } = binding;
    // A streamed response is not limited by `timeoutMs`, but reading its request is.
    let patience: NodeJS.Timeout | undefined;
    if (spec.kind !== "unary" && timeoutMs !== undefined) {
      patience = setTimeout(() => lifetime.expire(timeoutMs), timeoutMs);
      response.once("close", () => clearTimeout(patience));
    }
    const limits = takesBody ? (bodyLimits?.(call.context) ?? { maxBytes: maxBodyBytes }) : { maxBytes: 0 };
    readBody(request, limits, (body) => {
      clearTimeout(patience);
      if (lifetime.signal.aborted) return;
      if (!(body instanceof Error)) {
        begin(body);
        return;
      }
      limits.leaveRoom?.();
      // An HTTP/1.1 client reads the response only after it has sent the whole body, so the body is not abandoned. Node reads
      // the rest, bounded by its own request timeout.
      if (request.httpVersionMajor > 1) abandonBody(request, response);
      finish(call, takesBody ? body : new RestError("BODY_NOT_ALLOWED", "this method takes no body"));
    });
  }

  const serveServerStream = createServerStreamServer(options, receive);
  const serveClientStream = createClientStreamServer(options);
  const serveListLines = createListLinesServer(options, receive);

  function run(call: Call): void {
    try {
      const { spec } = call.match.route;
      if (spec.kind === "unary" && call.lines !== undefined) serveListLines(call, spec, call.lines);
      else if (spec.kind === "unary") receive(call, (message) => void invoke(call, spec, message));
      else if (spec.kind === "server_streaming") serveServerStream(call, spec);
      else serveClientStream(call, spec);
    } catch (error) {
      finish(call, error);
    }
  }

  /** Calls the gate with the head of a request and then runs the call. */
  function runBehindGate(call: Call, gate: (context: HandlerContext) => void | Promise<void>): void {
    const refuse = (error: unknown): void => {
      if (!call.lifetime.signal.aborted && !hasNoBody(call.request)) abandonBody(call.request, call.response);
      finish(call, error);
    };
    try {
      const opening = gate(call.context);
      if (opening === undefined) run(call);
      else opening.then(() => void (call.lifetime.signal.aborted || run(call)), refuse);
    } catch (error) {
      refuse(error);
    }
  }

  return (request, response, match, rawQuery, values) => {
    const { route } = match;
    const { spec } = route;
    if (route.deprecation !== undefined) setHeaders(response, route.deprecation);
    const { timeoutMs: givenMs, ...head } = readHead(request, response, route, rawQuery);
    const limitMs = isSingle(spec, head) ? shorter(givenMs, timeoutMs) : givenMs;
    const lifetime = watchCall(response, limitMs, (error) => {
      // While there is no room for the body, its client waits, too.
      const isAwaited = !hasNoBody(request) && !request.complete && !request.isPaused();
      const isLate = error.reason === "TIMEOUT" && readsWholeBody(spec) && isAwaited;
      abandonBody(request, response);
      call.fail(isLate ? new RestError("REQUEST_TIMEOUT", "the body took too long to arrive") : error);
    });
    const context = createCallContext(spec.method, request, lifetime, deniedHeaders, "rest", values);
    if (route.conventions.reads) {
      // The head of a stream replaces what is set on the response.
      if (isSingle(spec, head)) context.responseHeader.set(...uncached);
      else response.setHeader(...uncached);
    }
    const call: Call = {
      request,
      response,
      match,
      ...head,
      lifetime,
      context,
      fail: (thrown) => fail(request, response, thrown, context.responseHeader, { ...head, route }),
    };
    if (requestGate === undefined) run(call);
    else runBehindGate(call, requestGate);
  };
}

interface Head extends Pick<Call, "query" | "presentation" | "preconditions" | "lines"> {
  readonly timeoutMs: number | undefined;
}

/** @throws RestError if the head is invalid; the response has its own headers then. */
function readHead(request: RestRequest, response: RestResponse, route: Route, target: string): Head {
  try {
    const { query, presentation } = route.splitQuery(target);
    const preconditions = readPreconditions(request, route.conventions);
    const lines = route.spec.kind === "server_streaming" ? undefined : negotiateSingle(request, route, presentation);
    return { query, presentation, preconditions, lines, timeoutMs: readTimeout(request) };
  } catch (error) {
    if (route.conventions.reads) response.setHeader(...uncached);
    throw error;
  }
}

function finish(call: Call, thrown: unknown): void {
  if (call.lifetime.signal.aborted) return;
  call.lifetime.done();
  call.fail(thrown);
}

/** Whether a response is one message, and no stream. */
function isSingle({ kind }: ServableSpec, { lines }: Pick<Call, "lines">): boolean {
  return kind === "unary" && lines === undefined;
}

function readsWholeBody({ kind }: ServableSpec): boolean {
  return kind === "unary" || kind === "server_streaming";
}

function shorter(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/**
 * Checks `Accept` and `$alt` for a response of a single message, which is JSON or a google.api.HttpBody.
 *
 * @returns how a list is sent as lines, if `Accept` prefers them; undefined otherwise.
 * @throws RestError NOT_ACCEPTABLE, or FIELD_INVALID for an `$alt` that is not available.
 */
function negotiateSingle(request: RestRequest, { response, pages }: Route, { alt }: Presentation): Call["lines"] {
  if (alt === undefined) {
    if (!response.isJson) return undefined;
    const type = negotiateMediaType(request, pages === undefined ? [jsonType] : [jsonType, ...lineTypes]);
    return pages === undefined || type === jsonType ? undefined : { pages, contentType: type };
  }
  if (alt !== "json" || !response.isJson) {
    const accepted = response.isJson ? "must be json" : "is not accepted";
    throw invalidFields([{ field: "$alt", description: `${accepted} here, got ${alt}` }]);
  }
  return undefined;
}
