import type { HttpRequest, HttpResponse } from "./handler.ts";
import { answerError, answerJson } from "./plain-error.ts";
import { requestPathOf } from "./request-path.ts";

const path = "/.well-known/authzen-configuration";

/** The answer says by which name it was asked for. */
const headers = { "Cache-Control": "no-store" };

/**
 * Tells anybody where the AuthZEN endpoints are (OpenID AuthZEN Authorization API 1.0, policy decision point metadata), as
 * seen by the client: under the host that it named and, behind a proxy that speaks TLS, with the scheme of `X-Forwarded-Proto`.
 *
 * @returns false, without touching the response, when the path is another.
 */
export function answerAuthzenConfiguration(request: HttpRequest, response: HttpResponse): boolean {
  if (requestPathOf(request.url ?? "") !== path) return false;
  if (request.method !== "GET" && request.method !== "HEAD") {
    const message = `${path} answers GET and HEAD only.`;
    const allow = { ...headers, Allow: "GET, HEAD" };
    answerError(response, {
      code: 405,
      status: "UNIMPLEMENTED",
      reason: "METHOD_NOT_SUPPORTED",
      message,
      headers: allow,
    });
    return true;
  }
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
