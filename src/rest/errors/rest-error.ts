/**
 * Why a request failed in the transcoder, before or after its method ran: the `reason` of `google.rpc.ErrorInfo`. The set
 * is closed and part of the API. `to-failure.ts` maps each reason to its status.
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
  | "REQUEST_TIMEOUT"
  | "INTERNAL";

/** A field of a request and the rule that it violates, as in `google.rpc.BadRequest`. */
export interface FieldViolation {
  /** The path of the field, in proto names starting at the request message: `book.authors[0].name`. */
  readonly field: string;
  /** What would be accepted and what was given, as a sentence that continues after the name of the field. */
  readonly description: string;
  /** The stable id of the rule, for machines. */
  readonly rule?: string;
}

/**
 * Returns violations as `google.rpc.BadRequest` has them. Their reasons are written like those of `ErrorInfo`, in capitals with
 * underscores: `NAME_FORMAT` for the rule `name.format`.
 */
export function toFieldViolations(violations: readonly FieldViolation[]) {
  return violations.map(({ field, description, rule = "" }) => ({
    field,
    description,
    reason: rule.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase(),
  }));
}

export const mostViolations = 20;

/** An error of the transcoder. Its message is sent to the caller unchanged. */
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

/** Creates a FIELD_INVALID error. The message repeats the violations, for clients that do not read the details. */
export function invalidFields(violations: readonly FieldViolation[]): RestError {
  const message = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new RestError("FIELD_INVALID", message, { violations });
}

/** Truncates a value from the request, so that the size of a response does not depend on it. */
export function shorten(text: string): string {
  return text.length > 64 ? `${text.slice(0, 60)}...` : text;
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
