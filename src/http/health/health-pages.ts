import type { HttpRequest, HttpResponse } from "../http-messages.ts";
import type { Health } from "./health.ts";
import { answerError, answerJson, refuseOtherMethods } from "../plain-error.ts";
import { requestPathOf } from "../request-path.ts";

const headers = { "Cache-Control": "no-store" };

const ok = JSON.stringify({ status: "ok" });

const staleSince = (since: Date): string => JSON.stringify({ status: "stale", stale_since: since.toISOString() });

/**
 * Serves `/healthz` (the process is alive) and `/readyz` (the server can take requests) without authentication. Returns
 * `undefined`, without touching the response, for any other path.
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
  if (refuseOtherMethods(request, response, path, headers)) return;
  const obstacles = path === "/healthz" ? {} : await health.obstacles();
  const sentences = Object.values(obstacles);
  if (sentences.length === 0) {
    const since = path === "/readyz" ? health.staleSince() : undefined;
    return answerJson(response, 200, since === undefined ? ok : staleSince(since), headers);
  }
  answerError(response, {
    code: 503,
    status: "UNAVAILABLE",
    reason: "NOT_READY",
    message: sentences.join(" "),
    metadata: obstacles,
    headers,
  });
}
