import type { JsonWriteOptions, Registry } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, ContextValues, Interceptor } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "./calls/call-context.ts";
import { collectMethods } from "./routing/collect-methods.ts";
import { compileRoutes } from "./compile-routes.ts";
import { parseRequestTarget } from "./routing/request-target.ts";
import { quote, RestError } from "./errors/rest-error.ts";
import { sendResponse } from "./calls/send-response.ts";
import { createCallServer } from "./calls/serve-call.ts";
import { createFailureWriter } from "./errors/write-failure.ts";

export interface RestHandlerOptions {
  /** Registers the services, as for connectNodeAdapter. */
  readonly routes: (router: ConnectRouter) => void;
  /** Run around each call, the first one outermost, as in the RPC lanes. */
  readonly interceptors?: Interceptor[];
  readonly contextValues?: (request: RestRequest) => ContextValues;
  /** Looks up the types of google.protobuf.Any in answers. */
  readonly registry?: Registry;
  /** Write fields that hold their default too. False unless said otherwise. */
  readonly alwaysEmitImplicit?: boolean;
  /** Pass over query parameters and JSON fields that do not exist. False unless said otherwise: they are errors. */
  readonly ignoreUnknownFields?: boolean;
  /** The longest body that is read. 4 MiB unless said otherwise. */
  readonly maxBodyBytes?: number;
  /** How deep JSON may nest. 100 unless said otherwise. */
  readonly maxDepth?: number;
  /** How long a call may take, its body included. Without end unless said otherwise. */
  readonly timeoutMs?: number;
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
  const { ignoreUnknownFields = false, maxBodyBytes = 4 * 1024 * 1024, maxDepth = 100, timeoutMs, fallback } = options;
  const json: Partial<JsonWriteOptions> = { alwaysEmitImplicit: options.alwaysEmitImplicit ?? false };
  if (options.registry !== undefined) json.registry = options.registry;
  const trie = compileRoutes(collectMethods(options.routes), { ignoreUnknownFields, maxDepth, json });
  const fail = createFailureWriter(options.errorDomain ?? "rest", options.mapError);
  const { interceptors = [], contextValues } = options;
  const serve = createCallServer({ interceptors, contextValues, maxBodyBytes, timeoutMs, fail });

  function dispatch(request: RestRequest, response: RestResponse): void {
    const { path, query } = parseRequestTarget(request.url ?? "/");
    const method = request.method ?? "GET";
    let found = trie.match(method, path);
    if (found.route === undefined && method === "HEAD" && found.allow.includes("GET")) found = trie.match("GET", path);
    if (found.route !== undefined) serve(request, response, found, query);
    else if (found.allow.length > 0) answerWithAllowed(request, response, found.allow);
    else if (fallback !== undefined) fallback(request, response);
    else throw new RestError("ROUTE_NOT_FOUND", `nothing is served at ${quote(path)}`);
  }

  return (request, response) => {
    try {
      dispatch(request, response);
    } catch (error) {
      fail(request, response, error);
    }
  };
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
