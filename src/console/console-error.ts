import { OAuthError } from "../sign-in/oauth/oauth-error.ts";
import type { HttpRequest } from "../http/http-messages.ts";
import { noteFailure } from "../http/call-record.ts";
import { encodeError } from "../rest/errors/encode-error.ts";
import { statusOf } from "../rest/errors/status-codes.ts";
import { toConnectError, toServiceError } from "../rpc/to-connect-error.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { BrowserResponse } from "../sign-in/browser/browser-responses.ts";

/** Says that nobody is signed in, and where the browser signs in. */
export class SignInRequired extends Error {
  override readonly name = "SignInRequired";
  /** `/sign-in` or `/sign-in/choice` */
  readonly signIn: string;

  constructor(message: string, signIn: string) {
    super(message);
    this.signIn = signIn;
  }
}

/** Answers an error as the API does (AIP-193). One that a sign-in helps against says in `sign_in` where that is. */
export function describeConsoleError(thrown: unknown, request: HttpRequest): BrowserResponse {
  const error = toConnectError(errorOf(thrown), requestIdOf(request));
  const status = statusOf(error.code);
  noteFailure(request, status);
  const body = JSON.parse(encodeError(error, status.http)) as { readonly error: object };
  const signIn = thrown instanceof SignInRequired ? { sign_in: thrown.signIn } : {};
  return {
    status: status.http,
    headers: { ...Object.fromEntries(error.metadata), "Content-Type": "application/json" },
    body: JSON.stringify({ error: { ...body.error, ...signIn } }),
  };
}

function errorOf(thrown: unknown): ServiceError {
  // Nobody sends a token: there is nothing to challenge (RFC 6750, 3).
  if (thrown instanceof SignInRequired) return new ServiceError("GRANT_INVALID", thrown.message);
  // The body cannot be read.
  if (thrown instanceof OAuthError) return new ServiceError("FIELD_INVALID", thrown.message);
  return toServiceError(thrown);
}

/** Returns the request id, which `withAccessLog` puts into the headers. */
function requestIdOf({ headers }: HttpRequest): string {
  const id = headers["x-request-id"];
  return typeof id === "string" ? id : "";
}
