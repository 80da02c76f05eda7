// What the endpoints for browsers answer: pages, redirects and JSON, with headers that keep other sites out.
import { type HttpRequest, type HttpResponse, isHttp2 } from "../../http/http-messages.ts";
import type { OAuthError } from "../oauth/oauth-error.ts";

export interface BrowserResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
}

export interface Endpoint {
  readonly methods: readonly ("GET" | "POST")[];
  readonly answer: (request: HttpRequest) => Promise<BrowserResponse>;
  /** Describes an error. By default in the form of OAuth. */
  readonly fail?: (error: OAuthError) => BrowserResponse;
}

/**
 * The pages load nothing from elsewhere. They have no `form-action`, because Chromium applies it also to where the response of a
 * form redirects: back to the client that asked for the sign-in.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const shared = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": contentSecurityPolicy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export function page(body: string, headers: BrowserResponse["headers"] = {}): BrowserResponse {
  return { status: 200, headers: { ...headers, "Content-Type": "text/html; charset=utf-8" }, body };
}

export function json(status: number, body: object): BrowserResponse {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

export function redirect(location: string, headers: BrowserResponse["headers"] = {}): BrowserResponse {
  return { status: 303, headers: { ...headers, Location: location }, body: "" };
}

export function send(response: HttpResponse, { status, headers, body }: BrowserResponse): void {
  const all = { ...shared, ...headers, "Content-Length": String(Buffer.byteLength(body)) };
  // TypeScript cannot call the two overloads through their union.
  if (isHttp2(response)) response.writeHead(status, all);
  else response.writeHead(status, all);
  response.end(body);
}
