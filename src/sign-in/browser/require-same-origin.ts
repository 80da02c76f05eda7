import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError } from "../oauth/oauth-error.ts";

/**
 * Reports whether a page of this service sent the request. All browsers send `Sec-Fetch-Site`, which pages cannot set. Sites of the
 * same domain are others.
 */
export function isSameOrigin({ headers }: HttpRequest): boolean {
  return headers["sec-fetch-site"] === "same-origin";
}

export const otherOrigin =
  "the request must come from a page of this service: the header Sec-Fetch-Site must be same-origin";

/** @throws OAuthError invalid_request when no page of this service sent the request. */
export function requireSameOrigin(request: HttpRequest): void {
  if (!isSameOrigin(request)) throw new OAuthError("invalid_request", otherOrigin);
}
