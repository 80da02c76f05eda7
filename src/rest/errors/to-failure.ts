import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { RestError, type RestErrorReason, toFieldViolations } from "./rest-error.ts";
import { statusOf } from "./status-codes.ts";

interface Failure {
  readonly error: ConnectError;
  readonly httpStatus: number;
}

/** The status of each reason. Some reasons have a specific HTTP status; the code is then the closest match. */
const reasons: Record<RestErrorReason, { code: Code; httpStatus?: number }> = {
  ROUTE_NOT_FOUND: { code: Code.NotFound },
  METHOD_NOT_ALLOWED: { code: Code.Unimplemented, httpStatus: 405 },
  URL_MALFORMED: { code: Code.InvalidArgument },
  URL_TOO_LONG: { code: Code.InvalidArgument, httpStatus: 414 },
  HEADER_INVALID: { code: Code.InvalidArgument },
  NOT_ACCEPTABLE: { code: Code.InvalidArgument, httpStatus: 406 },
  PRECONDITION_UNSUPPORTED: { code: Code.InvalidArgument },
  PRECONDITION_FAILED: { code: Code.FailedPrecondition, httpStatus: 412 },
  FIELD_INVALID: { code: Code.InvalidArgument },
  BODY_MALFORMED: { code: Code.InvalidArgument },
  BODY_NOT_ALLOWED: { code: Code.InvalidArgument },
  BODY_TOO_LARGE: { code: Code.ResourceExhausted, httpStatus: 413 },
  CONTENT_TYPE_UNSUPPORTED: { code: Code.InvalidArgument, httpStatus: 415 },
  CONTENT_ENCODING_UNSUPPORTED: { code: Code.InvalidArgument, httpStatus: 415 },
  CLIENT_GONE: { code: Code.Canceled },
  TIMEOUT: { code: Code.DeadlineExceeded },
  REQUEST_TIMEOUT: { code: Code.DeadlineExceeded, httpStatus: 408 },
  INTERNAL: { code: Code.Internal },
};

/**
 * Converts any thrown value to the contents of an error response. A value that is neither a RestError nor a ConnectError
 * becomes INTERNAL without its message, since the message may contain internals. It remains available as the `cause`.
 *
 * @param decorate maps the error. A specific HTTP status of the transcoder is kept unless the code changes. An error that
 *   `decorate` throws becomes INTERNAL.
 */
export function toFailure(
  thrown: unknown,
  domain: string,
  decorate: (error: ConnectError) => ConnectError = (error) => error,
): Failure {
  const own = thrown instanceof ConnectError ? undefined : toRestError(thrown);
  const status = own && reasons[own.reason];
  const original = own === undefined ? (thrown as ConnectError) : toConnectError(own, domain);
  let error;
  try {
    error = decorate(original);
  } catch (cause) {
    error = toConnectError(toRestError(cause), domain);
  }
  const ownStatus = error.code === status?.code ? status.httpStatus : undefined;
  return { error, httpStatus: ownStatus ?? statusOf(error.code).http };
}

function toRestError(thrown: unknown): RestError {
  return thrown instanceof RestError ? thrown : new RestError("INTERNAL", "internal error", { cause: thrown });
}

function toConnectError(own: RestError, domain: string): ConnectError {
  const error = new ConnectError(own.message, reasons[own.reason].code, own.headers, undefined, own.cause ?? own);
  error.details.push({ desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { reason: own.reason, domain }) });
  if (own.violations.length > 0) {
    const fieldViolations = toFieldViolations(own.violations);
    error.details.push({ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) });
  }
  return error;
}
