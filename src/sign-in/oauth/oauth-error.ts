import { explainUnavailable, isDatabaseUnavailable } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";

/** An error in the form of OAuth 2.0 (RFC 6749, 5.2). */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly error: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    error: OAuthErrorCode,
    description: string,
    headers: Readonly<Record<string, string>> = {},
    status: number = statuses[error],
  ) {
    super(description);
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

/** The parameters of an error, without the characters that a description cannot have (RFC 6749, 5.2): quotes, backslashes and non-ASCII. */
export function errorParameters({ error, message }: OAuthError): {
  readonly error: string;
  readonly error_description: string;
} {
  const description = message.replaceAll('"', "'").replaceAll("\\", "/");
  return { error, error_description: description.replaceAll(/[^ -~]/gu, "?") };
}

export type OAuthErrorCode = keyof typeof statuses;

const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  unsupported_response_type: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  access_denied: 400,
  login_required: 400,
  consent_required: 400,
  slow_down: 429,
  temporarily_unavailable: 503,
  server_error: 500,
} as const;

/** The parameters of a token request, by the fields of the API with the same values. */
const parameters: Readonly<Record<string, { readonly name: string; readonly error: OAuthErrorCode }>> = {
  scopes: { name: "scope", error: "invalid_scope" },
  project_path: { name: "project", error: "invalid_request" },
};

/** Converts an error of the functions that the endpoints share with the API. Other errors reveal nothing. */
export function toOAuthError(thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  if (isDatabaseUnavailable(thrown)) {
    const { message, retryAfterMs } = explainUnavailable(thrown);
    return new OAuthError("temporarily_unavailable", message, { "Retry-After": String(retryAfterMs / 1_000) });
  }
  if (!(thrown instanceof ServiceError)) {
    return new OAuthError("server_error", "internal error; the log of the service has the cause");
  }
  const { reason, message, retryAfterMs } = thrown;
  const retry = { "Retry-After": String(Math.ceil((retryAfterMs ?? 1_000) / 1_000)) };
  switch (reason) {
    case "TOKEN_MISSING":
    case "TOKEN_INVALID":
      return new OAuthError("invalid_client", message, { "WWW-Authenticate": 'Basic realm="tenantry"' });
    case "GRANT_INVALID":
      return new OAuthError("invalid_grant", message);
    case "PERMISSION_DENIED":
    case "ADDRESS_NOT_ALLOWED":
      return new OAuthError("unauthorized_client", message);
    case "RATE_LIMITED":
      return new OAuthError("slow_down", message, retry);
    case "SERVICE_UNAVAILABLE":
    case "DEADLINE_EXCEEDED":
      return new OAuthError("temporarily_unavailable", message, retry);
    case "INTERNAL":
      return new OAuthError("server_error", message);
    default:
      return refusedParameter(thrown) ?? new OAuthError("invalid_request", message);
  }
}

/** Returns the error for a field that is a parameter of another name here. */
function refusedParameter({ violations: [violation] }: ServiceError): OAuthError | undefined {
  const parameter = violation && parameters[violation.field];
  return parameter && new OAuthError(parameter.error, `${parameter.name} ${violation.description}`);
}
