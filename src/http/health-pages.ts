import type { HttpRequest, HttpResponse } from "./handler.ts";
import type { Health } from "./health.ts";
import { answerError, answerJson } from "./plain-error.ts";
import { requestPathOf } from "./request-path.ts";

const headers = { "Cache-Control": "no-store" };

const ok = JSON.stringify({ status: "ok" });

/**
 * Answers `/healthz`, which says that the process runs, and `/readyz`, which says whether it should be given requests,
 * to anybody. Returns `undefined` without touching the response when the path is another.
 */
export function answerHealthPage(
  health: Health,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> | undefined {
  const path = requestPathOf(request.url ?? "");
  if (path !== "/healthz" && path !== "/readyz") return undefined;
  return answerPage(health, path, request, response);
}

async function answerPage(
  health: Health,
  path: "/healthz" | "/readyz",
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const message = `${path} answers GET and HEAD only.`;
    const allow = { ...headers, Allow: "GET, HEAD" };
    const error = { code: 405, status: "UNIMPLEMENTED", reason: "METHOD_NOT_SUPPORTED", message, headers: allow };
    return answerError(response, error);
  }
  const obstacles = path === "/healthz" ? {} : await health.obstacles();
  const sentences = Object.values(obstacles);
  if (sentences.length === 0) return answerJson(response, 200, ok, headers);
  answerError(response, {
    code: 503,
    status: "UNAVAILABLE",
    reason: "NOT_READY",
    message: sentences.join(" "),
    metadata: obstacles,
    headers,
  });
}
