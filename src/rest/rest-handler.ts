import type { Registry } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "./calls/call-context.ts";
import { collectMethods } from "./routing/collect-methods.ts";
import { compileRoutes } from "./compile-routes.ts";
import { connectionHeaders } from "./calls/lazy-headers.ts";
import { parseRequestTarget } from "./routing/request-target.ts";
import { quote, RestError } from "./errors/rest-error.ts";
import { sendResponse } from "./calls/send-response.ts";
import { createCallServer } from "./calls/serve-call.ts";
import type { EventId } from "./streams/framing/event-framing.ts";
import { createFailureEncoder, createFailureWriter } from "./errors/write-failure.ts";

export interface RestHandlerOptions {
  /** Registers the services, as for connectNodeAdapter. */
  readonly routes: (router: ConnectRouter) => void;
  /**
   * Sees each call before its body is read, as in the RPC lanes: the place to refuse callers without credentials. It may
   * set context values and response headers; an error that it throws is the answer.
   */
  readonly requestGate?: (context: HandlerContext) => void | Promise<void>;
  /** Run around each call, the first one outermost, as in the RPC lanes. */
  readonly interceptors?: Interceptor[];
  readonly contextValues?: (request: RestRequest) => ContextValues;
  /** Looks up the types of google.protobuf.Any in answers. */
  readonly registry?: Registry;
  /** Write fields that hold their default too. False unless said otherwise. */
  readonly alwaysEmitImplicit?: boolean;
  /** Pass over query parameters and JSON fields that do not exist. False unless said otherwise: they are errors. */
  readonly ignoreUnknownFields?: boolean;
  /** Query parameters that are no fields and not for the methods, such as a proxy's key: they are passed over. */
  readonly systemParameters?: readonly string[];
  /** Request headers that methods and interceptors do not see, beside those of the connection. */
  readonly deniedHeaders?: readonly string[];
  /** The longest path and query, in characters. 8192 unless said otherwise. */
  readonly maxTargetLength?: number;
  /** The longest body that is read, also once it is inflated. 4 MiB unless said otherwise. */
  readonly maxBodyBytes?: number;
  /** How deep JSON may nest. 100 unless said otherwise. */
  readonly maxDepth?: number;
  /** How long a call may take, its body included. Without end unless said otherwise. It does not end streams. */
  readonly timeoutMs?: number;
  /** Names the events of a stream, for `Last-Event-ID`. Without it, they are counted from 1. */
  readonly eventId?: EventId;
  /** How long a stream of events may be silent before a comment shows that it goes on. 15 s unless said otherwise. */
  readonly heartbeatMs?: number;
  /** The `domain` of the ErrorInfo of errors that come from here and not from a method. "rest" unless said otherwise. */
  readonly errorDomain?: string;
  /** Has the last word on every error, those of routing included, before it is written. */
  readonly mapError?: (error: ConnectError, request: RestRequest) => ConnectError;
  /** Answers requests for paths that no rule matches, instead of NOT_FOUND. */
  readonly fallback?: (request: RestRequest, response: RestResponse) => void;
}

/**
 * Serves the methods that have a `google.api.http` rule as REST with JSON, in process: the rule's request message goes
 * straight through the interceptors to the method, and its answer back.
 *
 * @returns a listener for the "request" event of node:http and node:http2 servers.
 * @throws Error when a rule is wrong: it names the method and what is wrong with it.
 */
export function createRestHandler(options: RestHandlerOptions): (request: RestRequest, response: RestResponse) => void {
  const { maxDepth = 100, maxBodyBytes = 4 * 1024 * 1024, maxTargetLength = 8192, fallback } = options;
  const { errorDomain = "rest", mapError } = options;
  const trie = compileRoutes(collectMethods(options.routes), {
    alwaysEmitImplicit: options.alwaysEmitImplicit ?? false,
    ignoreUnknownFields: options.ignoreUnknownFields ?? false,
    registry: options.registry,
    systemParameters: options.systemParameters ?? [],
    maxDepth,
  });
  const fail = createFailureWriter(errorDomain, mapError);
  const serve = createCallServer({
    requestGate: options.requestGate,
    interceptors: options.interceptors ?? [],
    contextValues: options.contextValues,
    deniedHeaders: deniedNames(options.deniedHeaders ?? []),
    timeoutMs: options.timeoutMs,
    eventId: options.eventId,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    encodeFailure: createFailureEncoder(errorDomain, mapError),
    maxBodyBytes,
    fail,
  });

  function dispatch(request: RestRequest, response: RestResponse): void {
    const method = request.method ?? "GET";
    if (method === "OPTIONS" && request.url === "*") {
      sendResponse(request, response, 204, {});
      return;
    }
    const { path, query } = parseRequestTarget(request.url ?? "/", maxTargetLength);
    let found = trie.match(method, path);
    if (found.route === undefined && method === "HEAD" && found.allow.includes("GET")) found = trie.match("GET", path);
    if (found.route !== undefined) serve(request, response, found, query);
    else if (found.allow.length > 0) answerWithAllowed(request, response, found.allow);
    else if (isSlashTooMany(method, path)) redirect(request, response, path.slice(0, -1), query);
    else if (fallback !== undefined) fallback(request, response);
    else throw new RestError("ROUTE_NOT_FOUND", `nothing is served at ${quote(path)}`);
  }

  /** Whether there is such a path but for a slash at the end. One that starts with "//" would redirect to a host. */
  function isSlashTooMany(method: string, path: string): boolean {
    if (!path.endsWith("/") || /^\/[/\\]/.test(path)) return false;
    const found = trie.match(method, path.slice(0, -1));
    return found.route !== undefined || found.allow.length > 0;
  }

  return (request, response) => {
    try {
      dispatch(request, response);
    } catch (error) {
      fail(request, response, error);
    }
  };
}

function deniedNames(names: readonly string[]): ReadonlySet<string> {
  return new Set([...connectionHeaders, ...names.map((name) => name.toLowerCase())]);
}

/** 308 keeps method and body (RFC 9110, 15.4.9). */
function redirect(request: RestRequest, response: RestResponse, path: string, query: string): void {
  sendResponse(request, response, 308, { location: query === "" ? path : `${path}?${query}` });
}

/** Answers OPTIONS, and refuses other methods that have no rule, both with the methods that have one. */
function answerWithAllowed(request: RestRequest, response: RestResponse, methods: readonly string[]): void {
  const implied = methods.includes("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"];
  const allow = [...new Set([...methods, ...implied])].join(", ");
  if (request.method === "OPTIONS") {
    sendResponse(request, response, 204, { allow });
    return;
  }
  const message = `${quote(request.method ?? "")} is not allowed here; allowed are ${allow}`;
  throw new RestError("METHOD_NOT_ALLOWED", message, { headers: { allow } });
}
