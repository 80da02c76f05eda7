import type { ConnectError } from "@connectrpc/connect";
import type { RestRequest, RestResponse } from "../calls/call-context.ts";
import { encodeError } from "./encode-error.ts";
import { jsonType } from "../calls/encode-response.ts";
import { sendResponse, toNodeHeaders } from "../calls/send-response.ts";
import { toFailure } from "./to-failure.ts";

/** Answers a request with whatever was thrown; does not throw itself. */
export type FailureWriter = (request: RestRequest, response: RestResponse, thrown: unknown) => void;

/** The arguments are those of `createRestHandler`. */
export function createFailureWriter(
  domain: string,
  mapError: ((error: ConnectError, request: RestRequest) => ConnectError) | undefined,
): FailureWriter {
  return (request, response, thrown) => {
    const { error, httpStatus } = toFailure(thrown, domain, mapError && ((each) => mapError(each, request)));
    const body = encodeError(error, httpStatus);
    const headers = { "content-type": jsonType };
    try {
      sendResponse(request, response, httpStatus, { ...toNodeHeaders(error.metadata), ...headers }, body);
    } catch {
      // The metadata holds what Node does not take as a header.
      sendResponse(request, response, httpStatus, headers, body);
    }
  };
}
