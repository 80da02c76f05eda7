import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { explainUnavailable, isDatabaseUnavailable } from "../database/failure.ts";
import { type ErrorReason, ServiceError } from "../errors/service-error.ts";
import { toFieldViolations } from "../rest/errors/rest-error.ts";

/** The `domain` of ErrorInfo. */
export const errorDomain = "iam.tenantry.dev";

const codes: Record<ErrorReason, Code> = {
  FIELD_INVALID: Code.InvalidArgument,
  PATH_INVALID: Code.InvalidArgument,
  PAGE_TOKEN_INVALID: Code.InvalidArgument,
  RESOURCE_NOT_FOUND: Code.NotFound,
  RESOURCE_EXISTS: Code.AlreadyExists,
  ETAG_STALE: Code.Aborted,
  STATE_FORBIDS: Code.FailedPrecondition,
  RESOURCE_IN_USE: Code.FailedPrecondition,
  CLAIM_VOID: Code.Aborted,
  SUBGROUP_CYCLE: Code.FailedPrecondition,
  LAST_ORG: Code.FailedPrecondition,
  OPERATOR_PROTECTED: Code.FailedPrecondition,
  ROLE_PREDEFINED: Code.FailedPrecondition,
  TOKEN_MISSING: Code.Unauthenticated,
  TOKEN_INVALID: Code.Unauthenticated,
  GRANT_INVALID: Code.Unauthenticated,
  PERMISSION_DENIED: Code.PermissionDenied,
  ADDRESS_NOT_ALLOWED: Code.PermissionDenied,
  GRANT_EXCEEDS_OWN: Code.PermissionDenied,
  REVOKE_EXCEEDS_OWN: Code.PermissionDenied,
  LAST_OWNER: Code.FailedPrecondition,
  LIMIT_EXCEEDED: Code.ResourceExhausted,
  QUOTA_EXCEEDED: Code.ResourceExhausted,
  RATE_LIMITED: Code.ResourceExhausted,
  REVISION_EXPIRED: Code.OutOfRange,
  STREAM_ENDED: Code.Unavailable,
  REQUEST_CANCELLED: Code.Canceled,
  DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  SERVICE_UNAVAILABLE: Code.Unavailable,
  INTERNAL: Code.Internal,
};

/** Converts a thrown value to a ServiceError. For unexpected errors, the message reveals no internals. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (isDatabaseUnavailable(thrown)) {
    const { message, retryAfterMs } = explainUnavailable(thrown);
    return new ServiceError("SERVICE_UNAVAILABLE", message, { cause: thrown, retryAfterMs });
  }
  return new ServiceError(
    "INTERNAL",
    "internal error; the log of the service has the cause under the id of this request",
    {
      cause: thrown,
    },
  );
}

/** Converts an error to its form on the wire: a code, a message and `google.rpc` details. */
export function toConnectError(error: ServiceError, requestId: string): ConnectError {
  const { reason, metadata, violations, quotas, retryAfterMs } = error;
  const connectError = new ConnectError(error.message, codes[reason], undefined, undefined, error.cause);
  connectError.details = [{ desc: ErrorInfoSchema, value: { reason, domain: errorDomain, metadata } }];
  if (violations.length > 0) {
    const fieldViolations = toFieldViolations(violations);
    connectError.details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (quotas.length > 0) {
    const exceeded = quotas.map(({ subject, description, metric = "", amounts = {} }) => ({
      subject,
      description,
      quotaMetric: metric,
      quotaDimensions: amounts,
    }));
    connectError.details.push({ desc: QuotaFailureSchema, value: { violations: exceeded } });
  }
  if (retryAfterMs !== undefined) {
    const delayMs = Math.max(1, Math.ceil(retryAfterMs));
    connectError.details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(delayMs) } });
    connectError.metadata.set("retry-after", String(Math.ceil(delayMs / 1_000)));
  }
  const challenge = challengeOf(error);
  if (challenge !== undefined) connectError.metadata.set("www-authenticate", challenge);
  return withRequestInfo(connectError, requestId);
}

/** Returns the challenge of an error that another token would not have (RFC 6750, 3); undefined for none. */
function challengeOf({ reason, metadata }: ServiceError): string | undefined {
  if (reason === "TOKEN_MISSING") return "Bearer";
  if (reason === "TOKEN_INVALID") return 'Bearer error="invalid_token"';
  switch (metadata["narrowed_by"]) {
    case "scope":
      return `Bearer error="insufficient_scope", scope="${metadata["permission"]}"`;
    case "project":
      return 'Bearer error="insufficient_scope"';
    default:
      return undefined;
  }
}

/** Adds the request id, by which logs can be searched. */
export function withRequestInfo(error: ConnectError, requestId: string): ConnectError {
  if (requestId !== "") error.details.push({ desc: RequestInfoSchema, value: { requestId } });
  return error;
}
