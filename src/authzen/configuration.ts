import type { HttpRequest, HttpResponse } from "../http/http-messages.ts";
import { answerJson, refuseOtherMethods } from "../http/plain-error.ts";
import { requestPathOf } from "../http/request-path.ts";

const path = "/.well-known/authzen-configuration";

/** Not cacheable, because the response depends on the host in the request. */
const headers = { "Cache-Control": "no-store" };

/**
 * Serves the policy decision point metadata (OpenID AuthZEN Authorization API 1.0) without authentication. Its URLs have the
 * host that the client used and, behind a TLS proxy, the scheme in `X-Forwarded-Proto`.
 *
 * @returns false, without touching the response, for any other path.
 */
export function answerAuthzenConfiguration(request: HttpRequest, response: HttpResponse): boolean {
  if (requestPathOf(request.url ?? "") !== path) return false;
  if (refuseOtherMethods(request, response, path, headers)) return true;
  answerJson(response, 200, JSON.stringify(describe(baseUrlOf(request))), headers);
  return true;
}

function describe(baseUrl: string): Readonly<Record<string, string>> {
  return {
    policy_decision_point: baseUrl,
    access_evaluation_endpoint: `${baseUrl}/access/v1/evaluation`,
    access_evaluations_endpoint: `${baseUrl}/access/v1/evaluations`,
    search_subject_endpoint: `${baseUrl}/access/v1/search/subject`,
    search_resource_endpoint: `${baseUrl}/access/v1/search/resource`,
    search_action_endpoint: `${baseUrl}/access/v1/search/action`,
  };
}

function baseUrlOf(request: HttpRequest): string {
  const scheme = request.headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const host = ("authority" in request ? request.authority : undefined) ?? request.headers.host ?? "localhost";
  return `${scheme}://${host}`;
}
