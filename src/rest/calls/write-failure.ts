import { Code, type ConnectError } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "./call-context.ts";
import { encodeError } from "../errors/encode-error.ts";
import type { RequestBinding } from "../binding/request-binding.ts";
import type { Preconditions } from "./preconditions.ts";
import { nameBodyFields } from "../errors/name-body-fields.ts";
import { jsonType } from "./encode-response.ts";
import { sendResponse, toNodeHeaders } from "./send-response.ts";
import { toFailure } from "../errors/to-failure.ts";

/**
 * Writes an error response for any thrown value. Never throws.
 *
 * @param header the response headers that the gate, interceptors and the method have set so far.
 * @param call what is known of the call; nothing if the request matches no rule.
 */
export type FailureWriter = (
  request: RestRequest,
  response: RestResponse,
  thrown: unknown,
  header?: Headers,
  call?: FailedCall,
) => void;

interface FailedCall {
  /** With `If-Match`, which the method checks as its etag, ABORTED becomes 412. */
  readonly preconditions: Pick<Preconditions, "ifMatch"> | undefined;
  /** What the body is determines how its fields are called. */
  readonly route: { readonly binding: Pick<RequestBinding, "body"> };
}

interface EncodedError {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly body: string;
}

/** Returns the response to an error that would have this status. */
export type EncodeError = (error: ConnectError, httpStatus: number) => EncodedError;

const asJson: EncodeError = (error, httpStatus) => ({
  httpStatus,
  contentType: jsonType,
  body: encodeError(error, httpStatus),
});

/** The parameters are options of `createRestHandler`. */
export function createFailureWriter(
  domain: string,
  mapError: ((error: ConnectError, request: RestRequest) => ConnectError) | undefined,
  encode: EncodeError = asJson,
): FailureWriter {
  return (request, response, thrown, header = new Headers(), call) => {
    const failure = toFailure(thrown, domain, mapError && ((each) => mapError(each, request)));
    const { error } = failure;
    const hadIfMatch = call?.preconditions?.ifMatch !== undefined;
    const status = hadIfMatch && error.code === Code.Aborted ? 412 : failure.httpStatus;
    const { httpStatus, contentType, body } = encode(nameBodyFields(error, call?.route.binding.body ?? ""), status);
    const headers = { "content-type": contentType };
    const all = { ...toNodeHeaders(header), ...toNodeHeaders(error.metadata), ...headers };
    try {
      sendResponse(request, response, httpStatus, all, body);
    } catch {
      // Node rejects one of the headers.
      sendResponse(request, response, httpStatus, headers, body);
    }
  };
}

/** Encodes the body of an error response, for use after the status has been sent. Never throws. */
export type FailureEncoder = (request: RestRequest, thrown: unknown) => string;

/** The parameters are options of `createRestHandler`. */
export function createFailureEncoder(
  domain: string,
  mapError: ((error: ConnectError, request: RestRequest) => ConnectError) | undefined,
): FailureEncoder {
  return (request, thrown) => {
    const { error, httpStatus } = toFailure(thrown, domain, mapError && ((each) => mapError(each, request)));
    return encodeError(error, httpStatus);
  };
}
