import { cors as connectCors } from "@connectrpc/connect";
import cors from "cors";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";

/** The methods that pages may use, over REST and Connect. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The response headers that pages may read, besides those that are always readable. */
const exposedHeaders = [
  ...connectCors.exposedHeaders,
  "Allow",
  "Deprecation",
  "ETag",
  "Link",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-Request-Id",
];

/** How long a browser may cache a preflight response. Two hours is the maximum of Chromium. */
const maxAgeSeconds = 7200;

/**
 * Allows pages of other origins to call the service (the CORS protocol of the Fetch standard). Callers authenticate with a
 * header and not with cookies, so credentials are not allowed, and all headers are.
 *
 * @param origins such as `https://console.example.com`, or `*` for all. If empty, browsers refuse.
 */
export function withCors<Rest extends unknown[]>(
  handler: (request: HttpRequest, response: HttpResponse, ...rest: Rest) => void | Promise<void>,
  origins: readonly string[],
): typeof handler {
  if (origins.length === 0) return handler;
  const origin = origins.includes("*") ? "*" : [...origins];
  // The handler answers OPTIONS requests that are not preflight requests.
  const apply = cors({ origin, methods, exposedHeaders, maxAge: maxAgeSeconds, preflightContinue: true });
  return (request, response, ...rest) => {
    let served: void | Promise<void> = undefined;
    apply(request, response, () => {
      if (isPreflight(request)) answerPreflight(response);
      else served = handler(request, response, ...rest);
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
