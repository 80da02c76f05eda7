/**
 * Why a request failed before it reached its method, or after: the `reason` of `google.rpc.ErrorInfo`. The set is closed
 * and part of the API; `to-failure.ts` gives each its status.
 */
export type RestErrorReason =
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "URL_MALFORMED"
  | "URL_TOO_LONG"
  | "HEADER_INVALID"
  | "NOT_ACCEPTABLE"
  | "PRECONDITION_UNSUPPORTED"
  | "PRECONDITION_FAILED"
  | "FIELD_INVALID"
  | "BODY_MALFORMED"
  | "BODY_NOT_ALLOWED"
  | "BODY_TOO_LARGE"
  | "CONTENT_TYPE_UNSUPPORTED"
  | "CONTENT_ENCODING_UNSUPPORTED"
  | "CLIENT_GONE"
  | "TIMEOUT"
  | "INTERNAL";

/** One field of a request and the rule that it breaks, as `google.rpc.BadRequest` carries it. */
export interface FieldViolation {
  /** The field, as a path of proto names from the request on: `book.authors[0].name`. */
  readonly field: string;
  /** The rule, what would be accepted and what was given, as a sentence that goes on after the field's name. */
  readonly description: string;
}

/** How many violations one answer names. */
export const mostViolations = 20;

/** A failure of this layer, told to the caller as it is. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly reason: RestErrorReason;
  readonly violations: readonly FieldViolation[];
  /** Response headers that belong to the failure, such as `allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    reason: RestErrorReason,
    message: string,
    details: { violations?: readonly FieldViolation[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.reason = reason;
    this.violations = details.violations ?? [];
    this.headers = details.headers ?? {};
  }
}

/** FIELD_INVALID for one or more fields; the message repeats the violations for those who read only that. */
export function invalidFields(violations: readonly FieldViolation[]): RestError {
  const message = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new RestError("FIELD_INVALID", message, { violations });
}

/** Shortens what a caller sent, so that no answer grows with the request. */
export function shorten(text: string): string {
  return text.length > 64 ? `${text.slice(0, 60)}...` : text;
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
