// Where a request goes: REST paths to the transcoder, health pages and the API reference to themselves, all else to
// Connect, which knows its paths. Both lanes run the same handlers behind the same interceptors.
import {
  type ConnectError,
  type ContextValues,
  createContextValues,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import openApi from "../gen/openapi.json" with { type: "json" };
import type { Config } from "./config.ts";
import { answerAuthzenConfiguration } from "./http/authzen-configuration.ts";
import { createApiReference } from "./http/api-reference.ts";
import { closeAfterEarlyAnswer } from "./http/close-after-early-answer.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./http/handler.ts";
import { answerHealthPage } from "./http/health-pages.ts";
import { registerHealth } from "./http/health-service.ts";
import type { Health } from "./http/health.ts";
import { registerReflection } from "./http/reflection.ts";
import { createRestHandler } from "./rest/rest-handler.ts";
import { endWithSignal } from "./rpc/end-with-signal.ts";
import { limitCallTime } from "./rpc/limit-call-time.ts";
import { requestIdKey } from "./rpc/request-id.ts";
import { type ServiceDependencies, createServices, createStandardServices, services } from "./rpc/services.ts";
import { errorDomain, withRequestInfo } from "./rpc/to-connect-error.ts";

const restPrefix = "/iam/v1alpha/";
const authzenPrefix = "/access/v1/";
const rpcPrefix = "/iam.v1alpha.";

/** What stands before the handlers, in this order. */
interface Guards {
  readonly gate: (context: HandlerContext) => Promise<void>;
  readonly errors: Interceptor;
  readonly call: Interceptor;
}

export function createRequestHandler(
  config: Config,
  dependencies: ServiceDependencies,
  { gate, errors, call }: Guards,
  health: Health,
): HttpHandler {
  const routes = createServices(dependencies);
  const answerApiReference = createApiReference(JSON.stringify(openApi));
  const restOptions = {
    requestGate: gate,
    interceptors: [errors, call],
    contextValues,
    alwaysEmitImplicit: true,
    maxBodyBytes: config.maxBodyBytes,
    maxDepth: config.maxJsonDepth,
    timeoutMs: config.requestTimeoutMs,
    errorDomain,
    mapError: addRequestInfo,
  };
  const rest = createRestHandler({ ...restOptions, routes });
  // Its clients may know a later version of the standard.
  const authzen = createRestHandler({
    ...restOptions,
    routes: createStandardServices(dependencies),
    ignoreUnknownFields: true,
  });
  const rpc = connectNodeAdapter({
    routes(router) {
      routes(router);
      registerHealth(router, health, services);
      registerReflection(router, services, health.draining);
    },
    requestGate: gate,
    interceptors: [errors, endWithSignal, call],
    contextValues,
    readMaxBytes: config.maxBodyBytes,
    // As over REST: a mistyped field is told, not passed over.
    jsonOptions: { ignoreUnknownFields: false },
    fallback: (request, response) => rest(request, response as HttpResponse),
  });
  return (request, response) => {
    if (request.url?.startsWith(restPrefix)) return rest(request, response);
    if (request.url?.startsWith(authzenPrefix)) return authzen(request, response);
    const page = answerHealthPage(health, request, response);
    if (page !== undefined) return page;
    if (answerApiReference(request, response) || answerAuthzenConfiguration(request, response)) return undefined;
    closeAfterEarlyAnswer(request, response);
    // Health and reflection have streams that stay.
    if (request.url?.startsWith(rpcPrefix)) limitCallTime(request, response, config.requestTimeoutMs);
    return rpc(request, response);
  };
}

/** The listener has given the request an id in its headers. */
function requestIdOf(request: HttpRequest): string {
  const id = request.headers["x-request-id"];
  return typeof id === "string" ? id : "";
}

function contextValues(request: HttpRequest): ContextValues {
  return createContextValues().set(requestIdKey, requestIdOf(request));
}

/** Errors from the interceptors on have it already; those of routing and binding do not. */
function addRequestInfo(error: ConnectError, request: HttpRequest): ConnectError {
  const hasInfo = error.details.some((detail) => "desc" in detail && detail.desc.typeName === "google.rpc.RequestInfo");
  return hasInfo ? error : withRequestInfo(error, requestIdOf(request));
}
