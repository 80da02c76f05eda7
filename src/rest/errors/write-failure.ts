import { Code, type ConnectError } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "../calls/call-context.ts";
import { encodeError } from "./encode-error.ts";
import { jsonType } from "../calls/encode-response.ts";
import { sendResponse, toNodeHeaders } from "../calls/send-response.ts";
import { toFailure } from "./to-failure.ts";

/**
 * Answers a request with whatever was thrown; does not throw itself.
 *
 * @param header what the gate, interceptors and the method have put into the response's header so far.
 * @param hadIfMatch the etag that the method checked came from `If-Match`, so that ABORTED is 412.
 */
export type FailureWriter = (
  request: RestRequest,
  response: RestResponse,
  thrown: unknown,
  header?: Headers,
  hadIfMatch?: boolean,
) => void;

/** The arguments are those of `createRestHandler`. */
export function createFailureWriter(
  domain: string,
  mapError: ((error: ConnectError, request: RestRequest) => ConnectError) | undefined,
): FailureWriter {
  return (request, response, thrown, header = new Headers(), hadIfMatch = false) => {
    const failure = toFailure(thrown, domain, mapError && ((each) => mapError(each, request)));
    const { error } = failure;
    const httpStatus = hadIfMatch && error.code === Code.Aborted ? 412 : failure.httpStatus;
    const body = encodeError(error, httpStatus);
    const headers = { "content-type": jsonType };
    const all = { ...toNodeHeaders(header), ...toNodeHeaders(error.metadata), ...headers };
    try {
      sendResponse(request, response, httpStatus, all, body);
    } catch {
      // The metadata holds what Node does not take as a header.
      sendResponse(request, response, httpStatus, headers, body);
    }
  };
}

/** The body of an error answer, for where its status is sent already; does not throw itself. */
export type FailureEncoder = (request: RestRequest, thrown: unknown) => string;

/** The arguments are those of `createRestHandler`. */
export function createFailureEncoder(
  domain: string,
  mapError: ((error: ConnectError, request: RestRequest) => ConnectError) | undefined,
): FailureEncoder {
  return (request, thrown) => {
    const { error, httpStatus } = toFailure(thrown, domain, mapError && ((each) => mapError(each, request)));
    return encodeError(error, httpStatus);
  };
}
