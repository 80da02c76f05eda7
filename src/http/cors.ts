import { cors as connectCors } from "@connectrpc/connect";
import cors from "cors";
import type { HttpHandler, HttpRequest, HttpResponse } from "./handler.ts";

/** What pages may send, for the REST and the Connect lanes. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** What pages may read of an answer beside what every page may. */
const exposedHeaders = [
  ...connectCors.exposedHeaders,
  "Allow",
  "ETag",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
];

/** How long a browser may keep the answer to a preflight request; two hours is the most that any keeps it. */
const maxAgeSeconds = 7200;

/**
 * Lets pages of other origins call the service (the CORS protocol of the Fetch standard). Callers bring their token in a
 * header, never a cookie, so credentials are not allowed and any header is.
 *
 * @param origins such as `https://console.example.com`, or `*` for every one; none leaves browsers to refuse.
 */
export function withCors(handler: HttpHandler, origins: readonly string[]): HttpHandler {
  if (origins.length === 0) return handler;
  const origin = origins.includes("*") ? "*" : [...origins];
  // The answer to a plain OPTIONS is the handler's.
  const apply = cors({ origin, methods, exposedHeaders, maxAge: maxAgeSeconds, preflightContinue: true });
  return (request, response) => {
    let served: void | Promise<void> = undefined;
    apply(request, response, () => {
      if (isPreflight(request)) answerPreflight(response);
      else served = handler(request, response);
    });
    return served;
  };
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

function answerPreflight(response: HttpResponse): void {
  response.statusCode = 204;
  response.end();
}
