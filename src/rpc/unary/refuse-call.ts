// Refuses calls, such as those that no method takes, in the protocol of the call: clients of RPC cannot read the errors of REST.
import { Code, ConnectError } from "@connectrpc/connect";
import { createEndStreamSerialization, endStreamFlag, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { noteFailure } from "../../http/call-record.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../../http/http-messages.ts";
import { answerError } from "../../http/plain-error.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { abandonBody } from "../../rest/calls/read-body.ts";
import { sendResponse, toNodeHeaders } from "../../rest/calls/send-response.ts";
import { quote } from "../../rest/errors/rest-error.ts";
import { statusOf } from "../../rest/errors/status-codes.ts";
import { grpcProtocol, grpcWebProtocol, toFrame } from "./grpc.ts";
import type { UnaryExchange } from "./protocol.ts";

/** @param httpStatus of a response that has no other place for its status. */
type SendError = (exchange: UnaryExchange, error: ConnectError, httpStatus: number) => void;

/** `/iam.v1alpha.OrgsService/GetOrg`; a path without a package is none of a method. */
const rpcPath = /^\/\w+(\.\w+)+\/\w+$/;

const grpcType = /^application\/grpc\b/;

/** The content types of calls in all encodings, also unknown ones. The first match counts. */
const senders: readonly (readonly [RegExp, SendError])[] = [
  [/^application\/grpc-web\b/, grpcWebProtocol.sendError],
  [grpcType, grpcProtocol.sendError],
  [/^application\/connect\+/, sendConnectStreamError],
  [/^application\/proto\b/, sendConnectError],
];

/** Answers UNIMPLEMENTED to the call of a method that does not exist. @returns false if the request is no call, which is not answered. */
export function refuseUnknownMethod(request: HttpRequest, response: HttpResponse): boolean {
  const path = requestPathOf(request.url ?? "");
  const message = `there is no method ${quote(path)}; /docs and gRPC reflection list the methods`;
  return request.method === "POST" && refuse(request, response, new ConnectError(message, Code.Unimplemented), 404);
}

/**
 * Answers a call whose HTTP method its RPC does not allow, with the code that clients derive from the status 405.
 *
 * @returns false if the request is no call, or has one of the verbs, which are not answered.
 */
export function refuseOtherVerbs(verbs: readonly string[], request: HttpRequest, response: HttpResponse): boolean {
  const { method = "" } = request;
  if (verbs.includes(method) || method === "OPTIONS") return false;
  const message = `this method is called with ${verbs.join(" or ")}, got ${quote(method)}`;
  const allow = [...verbs, "OPTIONS"].join(", ");
  return refuse(request, response, new ConnectError(message, Code.Unknown, { Allow: allow }), 405);
}

/**
 * Answers INVALID_ARGUMENT to a call of another version of the Connect protocol. The version may be left out, as `curl` does. A call with
 * GET has it in its URL.
 *
 * @returns false if the request is no such call, which is not answered.
 */
export function refuseOtherVersions(request: HttpRequest, response: HttpResponse): boolean {
  const version = request.headers["connect-protocol-version"];
  if (version === undefined || version === "1" || request.method !== "POST") return false;
  if (grpcType.test(request.headers["content-type"] ?? "")) return false;
  const message = `the header Connect-Protocol-Version must be 1, got ${quote(String(version))}`;
  return refuse(request, response, new ConnectError(message, Code.InvalidArgument), 400);
}

export function refuseOneTooMany(request: HttpRequest, response: HttpResponse, message: string): void {
  if (refuse(request, response, new ConnectError(message, Code.ResourceExhausted), 429)) return;
  answerError(response, { code: 429, status: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", message });
}

/** Returns false for what is no call, and for gRPC over HTTP/1.1, which are not answered. */
function refuse(request: HttpRequest, response: HttpResponse, error: ConnectError, httpStatus: number): boolean {
  const send = senderOf(request);
  // gRPC has its status in trailers, which only HTTP/2 has after a body of a known length.
  if (send === undefined || (send === grpcProtocol.sendError && !isHttp2(response))) return false;
  const contentType = request.headers["content-type"] ?? "";
  const context = { responseHeader: new Headers(), responseTrailer: new Headers() };
  // Over HTTP/1.1, Node discards the body, so that a client that is sending it can read the response.
  if (isHttp2(response)) abandonBody(request, response);
  noteFailure(request, { name: statusOf(error.code).name, http: httpStatus });
  send({ request, response, contentType, context }, error, httpStatus);
  return true;
}

/** Returns undefined for a request that is no call. A request with JSON is a call if its path is that of a method. */
function senderOf({ headers, url = "" }: HttpRequest): SendError | undefined {
  const type = headers["content-type"] ?? "";
  const [, send] = senders.find(([pattern]) => pattern.test(type)) ?? [];
  if (send !== undefined) return send;
  const isJson = /^application\/json\b/.test(type) && rpcPath.test(requestPathOf(url));
  return isJson || headers["connect-protocol-version"] !== undefined ? sendConnectError : undefined;
}

function sendConnectError({ request, response }: UnaryExchange, error: ConnectError, httpStatus: number): void {
  const headers = { ...toNodeHeaders(error.metadata), "content-type": "application/json" };
  sendResponse(request, response, httpStatus, headers, errorToJsonBytes(error, undefined));
}

/** A stream ends with its error, after the status 200. */
function sendConnectStreamError({ request, response, contentType }: UnaryExchange, error: ConnectError): void {
  const { serialize } = createEndStreamSerialization(undefined);
  const body = toFrame(endStreamFlag, serialize({ metadata: new Headers(), error }));
  sendResponse(request, response, 200, { "content-type": contentType }, body);
}
