// Routes requests: REST paths to the transcoder, health pages and the API reference to their handlers, and everything else to
// Connect. REST and Connect use the same handlers and interceptors.
import { type DescFile, type Message, isMessage } from "@bufbuild/protobuf";
import { type ConnectError, type ContextValues, createContextValues } from "@connectrpc/connect";
import { AuthorizationApiService } from "../gen/authzen/v1/authorization_api_pb.ts";
import { WatchChangesResponseSchema } from "../gen/iam/v1alpha/change_pb.ts";
import { ScimService } from "../gen/scim/v2/scim_service_pb.ts";
import openApi from "../gen/openapi.json" with { type: "json" };
import { createAuthorizationApiService } from "./authzen/service.ts";
import type { Origin } from "./changes/author.ts";
import type { Service } from "./compose/service.ts";
import type { Config } from "./config.ts";
import { answerAuthzenConfiguration } from "./authzen/configuration.ts";
import { type CallRecord, callRecordKey, noteFailure } from "./http/call-record.ts";
import { createProtoBundle } from "./http/proto-bundle.ts";
import { type Download, createDocsSite } from "./http/docs/docs-site.ts";
import { createClientAddress } from "./http/client-address.ts";
import { cutRequest } from "./http/cut-request.ts";
import type { HttpRequest, HttpResponse } from "./http/http-messages.ts";
import { answerHealthPage } from "./http/health/health-pages.ts";
import { answerIndexPage } from "./http/index-page.ts";
import { registerHealth } from "./http/health/health-service.ts";
import type { Health } from "./http/health/health.ts";
import { type PacedHandler, type RequestPace, paceKey, unpaced } from "./http/request-pace.ts";
import { createOAuthEndpoints } from "./sign-in/oauth/oauth-endpoints.ts";
import { createWellKnown } from "./sign-in/oauth/well-known.ts";
import { answerMissingPage } from "./sign-in/browser/answer-missing-page.ts";
import { encodeScimError } from "./scim/errors.ts";
import { createScimService } from "./scim/service.ts";
import { createConsole } from "./console/console.ts";
import { createSignInEndpoints } from "./sign-in/browser/sign-in-endpoints.ts";
import { registerReflection } from "./http/reflection/reflection.ts";
import { markDeprecatedRpcs } from "./rest/mark-deprecated-rpcs.ts";
import { statusOf } from "./rest/errors/status-codes.ts";
import { type RestHandlerOptions, createRestHandler } from "./rest/rest-handler.ts";
import { createRpcHandler } from "./rpc/rpc-handler.ts";
import { clientAddressKey, readOrigin } from "./rpc/call-origin.ts";
import { createLimitStreams } from "./rpc/limits/limit-streams.ts";
import { limitCallTime } from "./rpc/limits/limit-call-time.ts";
import { cutKey } from "./rpc/limits/silent-readers.ts";
import { readDeprecation } from "./rpc/read-deprecation.ts";
import { requestIdKey } from "./rpc/request-id-key.ts";
import { contractFiles, errorFiles, packages, restPrefixes, services, standardPrefixes } from "./rpc/services.ts";
import { bodies } from "./scheduling/settings.ts";
import { isReused } from "./standard-methods/read/reused-response.ts";
import { itemLimitOf } from "./validation/find-oversized.ts";
import { errorDomain, withRequestInfo } from "./rpc/to-connect-error.ts";
import { refuseOneTooMany } from "./rpc/unary/refuse-call.ts";

/** `/iam.v1alpha.` */
const rpcPrefixes = packages.map((name) => `/${name}.`);

/** Health Watches and reflection: far more than the proxies and orchestrators of a server open. */
const maxStreams = 1_000;

export function createRequestHandler(
  config: Config,
  { handlers, guards, routes, inProcess, signIn: pages }: Service,
  health: Health,
  consoleFolder: URL | undefined,
): PacedHandler {
  const { oauth, signIn, wellKnown } = pages;
  const clientAddress = createClientAddress(config.trustedProxies);
  const valuesOf = (request: HttpRequest, pace: RequestPace, record?: CallRecord): ContextValues =>
    createContext(request, clientAddress(request), pace, record);
  const answerWellKnown = createWellKnown(wellKnown);
  const originOf = (request: HttpRequest, credentialId: string): Origin =>
    readOrigin(userAgentOf(request), valuesOf(request, unpaced), credentialId);
  const answerOAuth = createOAuthEndpoints({ ...oauth, addressOf: clientAddress, originOf });
  const browserOriginOf = (request: HttpRequest): Origin => ({ ...originOf(request, ""), credentialId: null });
  const answerSignIn = createSignInEndpoints({ ...signIn, originOf: browserOriginOf });
  const answerConsole = createConsole({ ...signIn, originOf: browserOriginOf, folder: consoleFolder });
  const answerDocs = createDocsSite(openApi, downloadsOf(contractFiles), answerMissingPage);
  const restOptions = {
    requestGate: guards.gate,
    beforeMessage: guards.slice,
    interceptors: [guards.errors, guards.concurrency, guards.streams, guards.call],
    alwaysEmitImplicit: true,
    maxBodyBytes: config.maxBodyBytes,
    bodyLimits: guards.body,
    itemLimitOf,
    maxDepth: config.maxJsonDepth,
    timeoutMs: config.requestTimeoutMs,
    errorDomain,
    mapError: noteError,
    deprecationOf: readDeprecation,
  };
  const rest = createRestHandler({ ...restOptions, routes, isReused, hintFor, eventId });
  const { authzen, scim } = createStandards(restOptions, handlers, inProcess);
  const markDeprecated = markDeprecatedRpcs(services, readDeprecation);
  const rpc = createRpcHandler({
    routes,
    longLived(router) {
      registerHealth(router, health, services);
      registerReflection(router, services, errorFiles, health.draining);
    },
    guards,
    limitStreams: createLimitStreams({
      perAddress: config.streamsPerAddress,
      inAll: maxStreams,
      draining: health.draining,
      onTooMany: refuseOneTooMany,
    }),
    maxStreamedBytes: bodies.maxAnonymousBytes,
    maxJsonDepth: config.maxJsonDepth,
    requestTimeoutMs: config.requestTimeoutMs,
    fallback: orMissingPage(rest),
  });
  return (request, response, pace, record) => {
    const { url = "" } = request;
    if (restPrefixes.some((prefix) => url.startsWith(prefix)))
      return rest(request, response, withCut(valuesOf(request, pace, record), request, response));
    if (url.startsWith(standardPrefixes.scim)) return scim(request, response, valuesOf(request, pace, record));
    if (url.startsWith(standardPrefixes.authzen)) return authzen(request, response, valuesOf(request, pace, record));
    const page = answerHealthPage(health, request, response) ?? answerWellKnown(request, response);
    if (page !== undefined) return page;
    const answered =
      answerOAuth(request, response, pace) ?? answerSignIn(request, response) ?? answerConsole(request, response, pace);
    if (answered !== undefined) {
      // They read bodies before they know the caller.
      limitCallTime(request, response, config.requestTimeoutMs);
      return answered === true ? undefined : answered;
    }
    if (answerIndexPage(restPrefixes, request, response)) return undefined;
    if (answerDocs(request, response) || answerAuthzenConfiguration(request, response)) return undefined;
    markDeprecated(request, response);
    return rpc(request, response, withCut(valuesOf(request, pace, record), request, response));
  };
}

/** Creates the handlers of standards. Unknown fields are ignored, because clients may use a later version of one. */
function createStandards(
  options: Omit<RestHandlerOptions, "routes">,
  handlers: Service["handlers"],
  inProcess: Service["inProcess"],
) {
  const authorizationApi = createAuthorizationApiService({ ...handlers, inProcess });
  const scimService = createScimService({ ...handlers, inProcess });
  const lenient = { ...options, ignoreUnknownFields: true };
  return {
    authzen: createRestHandler({
      ...lenient,
      routes: (router) => router.service(AuthorizationApiService, authorizationApi),
    }),
    scim: createRestHandler({
      ...lenient,
      routes: (router) => router.service(ScimService, scimService),
      encodeError: encodeScimError,
    }),
  };
}

function userAgentOf({ headers: { "user-agent": userAgent } }: HttpRequest): Headers {
  return new Headers(userAgent === undefined ? {} : { "user-agent": userAgent });
}

/** Returns the id of an event, from which a client resumes: the revision up to which it has all. */
function eventId(message: Message): string | undefined {
  return isMessage(message, WatchChangesResponseSchema) ? message.resumeRevision : undefined;
}

/** Returns what is known of a request when it enters. */
function createContext(
  request: HttpRequest,
  address: string | null,
  pace: RequestPace,
  record: CallRecord | undefined,
): ContextValues {
  return createContextValues()
    .set(requestIdKey, requestIdOf(request))
    .set(clientAddressKey, address)
    .set(paceKey, pace)
    .set(callRecordKey, record);
}

/** Lets what limits streams cut a request whose client does not read. */
function withCut(values: ContextValues, request: HttpRequest, response: HttpResponse): ContextValues {
  return values.set(cutKey, () => cutRequest(request, response));
}

/** Returns the bundle for generators of clients, by path. It is made when it is first read. */
function downloadsOf(files: readonly DescFile[]): Readonly<Record<string, Download>> {
  return {
    "/protos.tar.gz": { type: "application/gzip", read: () => createProtoBundle(files).tarball },
    "/descriptors.binpb": { type: "application/protobuf", read: () => createProtoBundle(files).descriptors },
  };
}

/** Answers browsers with a page where there is neither a page nor the API; all others as `serve` does. */
function orMissingPage(serve: ReturnType<typeof createRestHandler>): ReturnType<typeof createRestHandler> {
  return (request, response, values) => {
    if (!isInApi(request.url ?? "") && answerMissingPage(request, response)) return;
    serve(request, response, values);
  };
}

function isInApi(path: string): boolean {
  return [...restPrefixes, ...rpcPrefixes].some((prefix) => path.startsWith(prefix));
}

/** Names the areas and versions for a path that is in none of them. */
function hintFor(path: string): string {
  if (isInApi(path)) return "";
  return `; paths begin with an area and its version: ${restPrefixes.join(", ")}`;
}

/** Returns the request id, which `withAccessLog` puts into the headers. */
function requestIdOf(request: HttpRequest): string {
  const id = request.headers["x-request-id"];
  return typeof id === "string" ? id : "";
}

/** Notes an error in the record of its request, and adds the request id. */
function noteError(error: ConnectError, request: HttpRequest): ConnectError {
  noteFailure(request, statusOf(error.code));
  return addRequestInfo(error, request);
}

/** Adds the request id to errors of routing and binding. Errors that passed the interceptors have it already. */
function addRequestInfo(error: ConnectError, request: HttpRequest): ConnectError {
  const hasInfo = error.details.some((detail) => "desc" in detail && detail.desc.typeName === "google.rpc.RequestInfo");
  return hasInfo ? error : withRequestInfo(error, requestIdOf(request));
}
