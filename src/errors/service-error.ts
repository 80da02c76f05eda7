/**
 * Why a call failed, for machines: the `reason` of `google.rpc.ErrorInfo`. The set is closed and part of the API.
 * `rpc/to-connect-error.ts` maps each reason to its status code.
 */
export type ErrorReason =
  | "FIELD_INVALID"
  | "PATH_INVALID"
  | "PAGE_TOKEN_INVALID"
  | "RESOURCE_NOT_FOUND"
  | "RESOURCE_EXISTS"
  | "ETAG_STALE"
  | "STATE_FORBIDS"
  | "RESOURCE_IN_USE"
  | "CLAIM_VOID"
  | "SUBGROUP_CYCLE"
  | "LAST_ORG"
  | "OPERATOR_PROTECTED"
  | "ROLE_PREDEFINED"
  | "TOKEN_MISSING"
  | "TOKEN_INVALID"
  | "GRANT_INVALID"
  | "PERMISSION_DENIED"
  | "ADDRESS_NOT_ALLOWED"
  | "GRANT_EXCEEDS_OWN"
  | "REVOKE_EXCEEDS_OWN"
  | "LAST_OWNER"
  | "LIMIT_EXCEEDED"
  | "QUOTA_EXCEEDED"
  | "RATE_LIMITED"
  | "REVISION_EXPIRED"
  | "STREAM_ENDED"
  | "REQUEST_CANCELLED"
  | "DEADLINE_EXCEEDED"
  | "SERVICE_UNAVAILABLE"
  | "INTERNAL";

/** A field of a request and the rule that it breaks, as in `google.rpc.BadRequest`. */
export interface FieldViolation {
  /** The field, as a dotted path of proto names from the request: `member.display_name`. */
  readonly field: string;
  /** The rule and what would be accepted, as a phrase that follows the field's name. */
  readonly description: string;
  /** The stable id of the rule, such as `name.format`. */
  readonly rule?: string;
}

/** A limit that the call would have exceeded, as in `google.rpc.QuotaFailure`. */
export interface QuotaViolation {
  /** What the limit applies to: `caller`, `org`, or the path of the resource that is full. */
  readonly subject: string;
  /** The limit, as a sentence. */
  readonly description: string;
  /** What is limited, for machines: a QuantityKind such as `cpu_cores`. */
  readonly metric?: string;
  /** The amounts, for machines: exact decimals by what they are. */
  readonly amounts?: Readonly<Record<string, string>>;
}

/** An org and, if it is known, its member whose credential was refused, by ids. */
export interface Concerned {
  readonly orgId: string;
  readonly member?: { readonly memberId: string; readonly credentialId: string };
}

/** An error that is returned to the caller. Any other error is returned as INTERNAL. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly reason: ErrorReason;
  readonly violations: readonly FieldViolation[];
  readonly quotas: readonly QuotaViolation[];
  /** When the same call may succeed, for `google.rpc.RetryInfo`; undefined if waiting alone does not help. */
  readonly retryAfterMs: number | undefined;
  /** Facts for machines, for `ErrorInfo.metadata`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Whom it concerns, for the log of its org. It is not returned to the caller. */
  readonly concerns: Concerned | undefined;

  constructor(
    reason: ErrorReason,
    message: string,
    details: {
      violations?: readonly FieldViolation[];
      quotas?: readonly QuotaViolation[];
      retryAfterMs?: number;
      metadata?: Readonly<Record<string, string>>;
      concerns?: Concerned | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.reason = reason;
    this.violations = details.violations ?? [];
    this.quotas = details.quotas ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.metadata = details.metadata ?? {};
    this.concerns = details.concerns;
  }
}

/** Returns an error with whom it concerns. Other errors than those for callers are returned as they are. */
export function concerning(error: unknown, concerns: Concerned): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { reason, message, violations, quotas, retryAfterMs, metadata, cause } = error;
  const retry = retryAfterMs !== undefined && { retryAfterMs };
  return new ServiceError(reason, message, { violations, quotas, metadata, ...retry, concerns, cause });
}

/** How many violations a message repeats. Over gRPC the message is in a trailer, together with the violations themselves. */
const maxRepeated = 10;

/**
 * Returns an INVALID_ARGUMENT error for one or more fields. The message repeats the first violations for clients that read only
 * the message.
 */
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

/** Returns a FAILED_PRECONDITION error for a resource that is deleted and so cannot be changed or used. */
export function deleted(kind: string, path: string): ServiceError {
  return new ServiceError("STATE_FORBIDS", `the ${kind} ${path} is DELETED`, {
    metadata: { resource: path, state: "DELETED" },
  });
}

export function notFound(kind: string, path: string): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", `there is no ${kind} ${path}`, { metadata: { resource: path } });
}
