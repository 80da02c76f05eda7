import type { HttpRequest, HttpResponse } from "../http-messages.ts";
import { answerError } from "../plain-error.ts";
import { answerHealthPage } from "./health-pages.ts";
import { createHealth } from "./health.ts";

/**
 * Answers requests while the server waits for its database: `/healthz` as always, `/readyz` with the failed check of the database, and
 * everything else with the status 503, which clients of gRPC and Connect read as UNAVAILABLE.
 */
export function createAnswerStarting(): (request: HttpRequest, response: HttpResponse) => Promise<void> | undefined {
  const health = createHealth({
    checks: { database: () => Promise.reject(new Error("the server waits for the database")) },
    checkTimeoutMs: 1_000,
  });
  return (request, response) => {
    const page = answerHealthPage(health, request, response);
    if (page !== undefined) return page;
    answerError(response, {
      code: 503,
      status: "UNAVAILABLE",
      reason: "NOT_READY",
      message: "The server is starting and waits for its database; try again.",
      headers: { "Retry-After": "1", "Cache-Control": "no-store" },
    });
    return undefined;
  };
}
