import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError } from "../oauth/oauth-error.ts";

/**
 * Checks that a page of this service sent the request. All browsers send `Sec-Fetch-Site`, which pages cannot set. Sites of the
 * same domain are refused, too.
 *
 * @throws OAuthError invalid_request
 */
export function requireSameOrigin({ headers }: HttpRequest): void {
  if (headers["sec-fetch-site"] === "same-origin") return;
  const message = "the request must come from a page of this service: the header Sec-Fetch-Site must be same-origin";
  throw new OAuthError("invalid_request", message);
}
