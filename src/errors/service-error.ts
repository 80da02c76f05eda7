/**
 * Why a call failed, as a machine reads it: the `reason` of `google.rpc.ErrorInfo`. The set is closed and part of the
 * API; `rpc/to-connect-error.ts` gives each its status code.
 */
export type ErrorReason =
  | "FIELD_INVALID"
  | "PATH_INVALID"
  | "PAGE_TOKEN_INVALID"
  | "RESOURCE_NOT_FOUND"
  | "RESOURCE_EXISTS"
  | "ETAG_STALE"
  | "STATE_FORBIDS"
  | "SUBGROUP_CYCLE"
  | "LAST_ORG"
  | "OPERATOR_PROTECTED"
  | "ROLE_PREDEFINED"
  | "TOKEN_MISSING"
  | "TOKEN_INVALID"
  | "PERMISSION_DENIED"
  | "GRANT_EXCEEDS_OWN"
  | "LAST_OWNER"
  | "LIMIT_EXCEEDED"
  | "RATE_LIMITED"
  | "REQUEST_CANCELLED"
  | "DEADLINE_EXCEEDED"
  | "SERVICE_UNAVAILABLE"
  | "INTERNAL";

/** One field of a request and the rule that it breaks, as `google.rpc.BadRequest` carries it. */
export interface FieldViolation {
  /** The field, as a dotted path of proto names from the request on: `member.display_name`. */
  readonly field: string;
  /** The rule and what would be accepted, as a sentence that goes on after the field's name. */
  readonly description: string;
  /** The rule's stable id, `name.format`. */
  readonly rule?: string;
}

/** A limit that the call would have passed, as `google.rpc.QuotaFailure` carries it. */
export interface QuotaViolation {
  /** Whose limit it is: `caller`, `org`, or the path of the resource that may hold no more. */
  readonly subject: string;
  /** The limit, as a sentence. */
  readonly description: string;
}

/** A failure that the caller is told about. Everything else that is thrown is answered as INTERNAL. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly reason: ErrorReason;
  readonly violations: readonly FieldViolation[];
  readonly quotas: readonly QuotaViolation[];
  /** When the same call may succeed, for `google.rpc.RetryInfo`; undefined where waiting alone does not help. */
  readonly retryAfterMs: number | undefined;
  /** Facts for machines, `ErrorInfo.metadata`. */
  readonly metadata: Readonly<Record<string, string>>;

  constructor(
    reason: ErrorReason,
    message: string,
    details: {
      violations?: readonly FieldViolation[];
      quotas?: readonly QuotaViolation[];
      retryAfterMs?: number;
      metadata?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.reason = reason;
    this.violations = details.violations ?? [];
    this.quotas = details.quotas ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.metadata = details.metadata ?? {};
  }
}

/** How many violations a message repeats: over gRPC it goes into a trailer, beside the violations themselves. */
const maxRepeated = 10;

/** INVALID_ARGUMENT for one or more fields; the message repeats the first violations for those who read only that. */
export function invalidFields(
  violations: readonly FieldViolation[],
  reason: "FIELD_INVALID" | "PATH_INVALID" | "PAGE_TOKEN_INVALID" = "FIELD_INVALID",
): ServiceError {
  const repeated = violations.slice(0, maxRepeated).map(({ field, description }) => `${field}: ${description}`);
  const others = violations.length - repeated.length;
  const message = [...repeated, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
  return new ServiceError(reason, message, { violations });
}

export function invalidField(field: string, description: string, rule?: string): ServiceError {
  return invalidFields([{ field, description, ...(rule !== undefined && { rule }) }]);
}

/** FAILED_PRECONDITION for a resource that is deleted and so cannot be changed or used. */
export function deleted(kind: string, path: string): ServiceError {
  return new ServiceError("STATE_FORBIDS", `the ${kind} ${path} is DELETED`, {
    metadata: { resource: path, state: "DELETED" },
  });
}

/** NOT_FOUND for a resource that a path names. */
export function notFound(kind: string, path: string): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", `there is no ${kind} ${path}`, { metadata: { resource: path } });
}
