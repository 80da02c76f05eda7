import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError } from "./oauth-error.ts";

/** @throws OAuthError invalid_request with the status 405 */
export function requireMethod({ method = "" }: HttpRequest, methods: readonly string[]): void {
  const allowed = methods.includes("GET") ? ["GET", "HEAD", ...methods.filter((each) => each !== "GET")] : methods;
  if (allowed.includes(method)) return;
  const description = `the method must be ${methods.join(" or ")}`;
  throw new OAuthError("invalid_request", description, { Allow: allowed.join(", ") }, 405);
}
