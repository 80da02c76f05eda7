import type { IncomingMessage, ServerResponse } from "node:http";
import type { Message, Registry } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "./calls/call-context.ts";
import type { ItemLimitOf } from "./limits/item-limit.ts";
import { createTypeRegistry } from "./json/type-registry.ts";
import { collectMethods } from "./routing/collect-methods.ts";
import { compileRoutes } from "./compile-routes.ts";
import { connectionHeaders } from "./calls/lazy-headers.ts";
import type { DeprecationOf } from "./deprecation.ts";
import { parseRequestTarget } from "./routing/request-target.ts";
import { offerNames } from "./errors/offer-names.ts";
import { quote, RestError } from "./errors/rest-error.ts";
import { sendResponse } from "./calls/send-response.ts";
import type { BodyLimits } from "./calls/body-limits.ts";
import { createCallServer } from "./serve-call.ts";
import type { EventId } from "./streams/framing/event-framing.ts";
import { createFailureEncoder, createFailureWriter, type EncodeError } from "./calls/write-failure.ts";

export interface RestHandlerOptions {
  /** Registers the services; the same function as for connectNodeAdapter. */
  readonly routes: (router: ConnectRouter) => void;
  /**
   * Called for each call before its body is read, as for RPC; the place to reject callers without credentials. It may set
   * context values and response headers. An error that it throws becomes the response.
   */
  readonly requestGate?: (context: HandlerContext) => void | Promise<void>;
  /**
   * Called when the body of a call has been read, before its message is parsed. The call waits for the promise; the place to let
   * other calls run first.
   */
  readonly beforeMessage?: (context: HandlerContext, bodyBytes: number) => Promise<void> | undefined;
  /** Interceptors that wrap each call, the first one outermost, as for RPC. */
  readonly interceptors?: Interceptor[];
  readonly contextValues?: (request: RestRequest) => ContextValues;
  /**
   * Reports whether the method returns the response of a call to other calls, too, as the same message and unchanged. Its JSON is then
   * made once and kept with it. By default, each response is encoded as it is when it is sent. Not called for streams.
   */
  readonly isReused?: (response: Message, context: HandlerContext) => boolean;
  /** Resolves the types of google.protobuf.Any. Defaults to the types in the files of the services, and what those import. */
  readonly registry?: Registry;
  /** Whether responses include fields that hold their default value. Defaults to false. */
  readonly alwaysEmitImplicit?: boolean;
  /** Whether query parameters and JSON fields that do not exist are ignored. Defaults to false: they are errors. */
  readonly ignoreUnknownFields?: boolean;
  /** Names of query parameters to ignore because they are not meant for the methods, such as the key of a proxy. */
  readonly systemParameters?: readonly string[];
  /** Request headers that are hidden from methods and interceptors, in addition to those of the connection. */
  readonly deniedHeaders?: readonly string[];
  /** The maximum length of path and query together, in characters. Defaults to 8192. */
  readonly maxTargetLength?: number;
  /** The maximum size of a body, or of one line of a streamed body, before and after decompression. Defaults to 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Returns the limits of the body of a call that passed the gate, instead of `maxBodyBytes`. Not for streamed bodies. */
  readonly bodyLimits?: (context: HandlerContext) => BodyLimits;
  /**
   * Returns how many items a repeated field takes, or entries a map; undefined for others. A body of more than 16 kB that has more is
   * refused with FIELD_INVALID before it is parsed, at the first item too many, since parsing one of 1 MB can take 90 ms. Shorter
   * ones are for the method, or an interceptor, to refuse. No limits by default.
   */
  readonly itemLimitOf?: ItemLimitOf;
  /** The maximum nesting depth of JSON and of query parameter names. Defaults to 100. */
  readonly maxDepth?: number;
  /**
   * The maximum duration of a call, including reading its body. Unlimited by default. For a method that streams its
   * response, only reading the request is limited; a method that receives a stream is not limited.
   */
  readonly timeoutMs?: number;
  /** Returns the id of an event of a stream, for `Last-Event-ID`. Events are counted from 1 by default. */
  readonly eventId?: EventId;
  /** How long an event stream may be silent before a comment is sent as a heartbeat. Defaults to 15 s. */
  readonly heartbeatMs?: number;
  /** The `domain` in the ErrorInfo of errors of the transcoder itself. Defaults to "rest". */
  readonly errorDomain?: string;
  /**
   * Returns since when a method is deprecated. Its responses, also errors, have the headers `Deprecation`, `Sunset` and `Link`
   * then. No method is deprecated by default, because Protobuf's option `deprecated` has no date.
   */
  readonly deprecationOf?: DeprecationOf;
  /** Maps every error, including routing errors, before it is written. */
  readonly mapError?: (error: ConnectError, request: RestRequest) => ConnectError;
  /** Returns the response to an error. By default, it is the JSON of AIP-193. Not for errors of streams. */
  readonly encodeError?: EncodeError;
  /**
   * Returns what else to say about a path that no rule matches, after "nothing is served at ...". By default, or if it returns an
   * empty text, what could follow the beginning of the path is named.
   */
  readonly hintFor?: (path: string) => string;
  /**
   * Handles requests for paths that no rule matches: a listener for the "request" event of node:http. With a server of node:http2, it
   * gets the request and response of Node's compatibility API, which lack what only HTTP/1.1 has. Defaults to a NOT_FOUND response.
   */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * Creates a handler that serves the methods that have a `google.api.http` rule as REST with JSON, in process: it passes
 * the request message directly through the interceptors to the method.
 *
 * @returns a listener for the "request" event of node:http and node:http2 servers. It takes the context values of the call as a third
 *   argument, from a server that knows more of a request than its head and body; without it, `contextValues` makes them.
 * @throws Error that names the method and the problem if a rule is invalid.
 */
export function createRestHandler(
  options: RestHandlerOptions,
): (request: RestRequest, response: RestResponse, values?: ContextValues) => void {
  const { maxDepth = 100, maxBodyBytes = 4 * 1024 * 1024, maxTargetLength = 8192, fallback } = options;
  const { errorDomain = "rest", mapError, hintFor = () => "" } = options;
  const methods = collectMethods(options.routes);
  const trie = compileRoutes(methods, {
    alwaysEmitImplicit: options.alwaysEmitImplicit ?? false,
    ignoreUnknownFields: options.ignoreUnknownFields ?? false,
    registry: options.registry ?? createTypeRegistry(methods.map(({ method }) => method)),
    systemParameters: options.systemParameters ?? [],
    deprecationOf: options.deprecationOf ?? (() => undefined),
    maxDepth,
    itemLimitOf: options.itemLimitOf,
  });
  const fail = createFailureWriter(errorDomain, mapError, options.encodeError);
  const serve = createCallServer({
    requestGate: options.requestGate,
    beforeMessage: options.beforeMessage,
    interceptors: options.interceptors ?? [],
    isReused: options.isReused ?? (() => false),
    deniedHeaders: deniedNames(options.deniedHeaders ?? []),
    timeoutMs: options.timeoutMs,
    eventId: options.eventId,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    encodeFailure: createFailureEncoder(errorDomain, mapError),
    maxBodyBytes,
    bodyLimits: options.bodyLimits,
    fail,
  });

  function dispatch(request: RestRequest, response: RestResponse, values?: ContextValues): void {
    const method = request.method ?? "GET";
    if (method === "OPTIONS" && request.url === "*") return sendResponse(request, response, 204, {});
    const { path, query } = parseRequestTarget(request.url ?? "/", maxTargetLength);
    let found = trie.match(method, path);
    if (found.route === undefined && method === "HEAD" && found.allow.includes("GET")) found = trie.match("GET", path);
    if (found.route !== undefined) serve(request, response, found, query, values ?? options.contextValues?.(request));
    else if (found.allow.length > 0) answerWithAllowed(request, response, found.allow, trie.offer(path).verbs);
    else if (isSlashTooMany(method, path)) redirect(request, response, path.slice(0, -1), query);
    else if (fallback !== undefined) fallback(request as IncomingMessage, response as ServerResponse);
    else throw new RestError("ROUTE_NOT_FOUND", `nothing is served at ${quote(path)}${hintFor(path) || offerAt(path)}`);
  }

  function offerAt(path: string): string {
    const { reached, next, verbs } = trie.offer(path);
    if (verbs.length > 0) return `; after the last ":" can be ${offerNames(verbs)}`;
    return reached === "" || next.length === 0 ? "" : `; after ${quote(reached)} can be ${offerNames(next)}`;
  }

  /**
   * Checks whether a rule matches the path without its trailing slash. Paths that start with "//" are excluded, because
   * the redirect would lead to another host.
   */
  function isSlashTooMany(method: string, path: string): boolean {
    if (!path.endsWith("/") || /^\/[/\\]/.test(path)) return false;
    const found = trie.match(method, path.slice(0, -1));
    return found.route !== undefined || found.allow.length > 0;
  }

  return (request, response, values) => {
    try {
      dispatch(request, response, values);
    } catch (error) {
      fail(request, response, error);
    }
  };
}

function deniedNames(names: readonly string[]): ReadonlySet<string> {
  return new Set([...connectionHeaders, ...names.map((name) => name.toLowerCase())]);
}

/** Redirects with 308, which preserves method and body (RFC 9110, 15.4.9). */
function redirect(request: RestRequest, response: RestResponse, path: string, query: string): void {
  sendResponse(request, response, 308, { location: query === "" ? path : `${path}?${query}` });
}

/** Answers OPTIONS and rejects other methods without a rule. Both responses list the allowed methods. */
function answerWithAllowed(
  request: RestRequest,
  response: RestResponse,
  methods: readonly string[],
  verbs: readonly string[],
): void {
  const implied = methods.includes("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"];
  const allow = [...new Set([...methods, ...implied])].join(", ");
  if (request.method === "OPTIONS") {
    sendResponse(request, response, 204, { allow });
    return;
  }
  const offered = verbs.length === 0 ? "" : `; after the last ":" can be ${offerNames(verbs)}`;
  const message = `${quote(request.method ?? "")} is not allowed here; allowed are ${allow}${offered}`;
  throw new RestError("METHOD_NOT_ALLOWED", message, { headers: { allow } });
}
