import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { isDatabaseUnavailable } from "../database/failure.ts";
import { type ErrorReason, ServiceError } from "../errors/service-error.ts";

/** The `domain` of ErrorInfo: whose reasons these are. */
export const errorDomain = "iam.tenantry.dev";

const codes: Record<ErrorReason, Code> = {
  FIELD_INVALID: Code.InvalidArgument,
  PATH_INVALID: Code.InvalidArgument,
  PAGE_TOKEN_INVALID: Code.InvalidArgument,
  RESOURCE_NOT_FOUND: Code.NotFound,
  RESOURCE_EXISTS: Code.AlreadyExists,
  ETAG_STALE: Code.Aborted,
  STATE_FORBIDS: Code.FailedPrecondition,
  SUBGROUP_CYCLE: Code.FailedPrecondition,
  LAST_ORG: Code.FailedPrecondition,
  OPERATOR_PROTECTED: Code.FailedPrecondition,
  TOKEN_MISSING: Code.Unauthenticated,
  TOKEN_INVALID: Code.Unauthenticated,
  PERMISSION_DENIED: Code.PermissionDenied,
  REQUEST_CANCELLED: Code.Canceled,
  DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  SERVICE_UNAVAILABLE: Code.Unavailable,
  INTERNAL: Code.Internal,
};

/** How long a caller should wait before it asks a database again that was not there. */
const retrySeconds = 1n;

/** What a thrown value means for the caller. Anything but a ServiceError says nothing of what went wrong inside. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (isDatabaseUnavailable(thrown)) {
    return new ServiceError("SERVICE_UNAVAILABLE", "the database cannot be reached or is too busy; try again", {
      cause: thrown,
    });
  }
  return new ServiceError("INTERNAL", "the service failed; the log tells why under this request's id", {
    cause: thrown,
  });
}

/** The same error as every protocol carries it: a code, a message and `google.rpc` details. */
export function toConnectError(error: ServiceError, requestId: string): ConnectError {
  const { reason, metadata, violations } = error;
  const connectError = new ConnectError(error.message, codes[reason], undefined, undefined, error.cause);
  connectError.details = [{ desc: ErrorInfoSchema, value: { reason, domain: errorDomain, metadata } }];
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, description, rule = "" }) => ({
      field,
      description,
      reason: rule,
    }));
    connectError.details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (reason === "SERVICE_UNAVAILABLE") {
    connectError.details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: retrySeconds } } });
    connectError.metadata.set("retry-after", String(retrySeconds));
  }
  if (reason === "TOKEN_MISSING") connectError.metadata.set("www-authenticate", "Bearer");
  if (reason === "TOKEN_INVALID") connectError.metadata.set("www-authenticate", 'Bearer error="invalid_token"');
  return withRequestInfo(connectError, requestId);
}

/** Adds the request's id, by which the log can be searched. */
export function withRequestInfo(error: ConnectError, requestId: string): ConnectError {
  if (requestId !== "") error.details.push({ desc: RequestInfoSchema, value: { requestId } });
  return error;
}
