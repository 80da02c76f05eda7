import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import Negotiator from "negotiator";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../http-messages.ts";
import { answerError, refuseOtherMethods } from "../plain-error.ts";
import { requestPathOf } from "../request-path.ts";
import { docsFiles } from "./docs-pages.ts";

/** The pages may only load from and connect to this host. Swagger UI has icons in data URLs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Caches must revalidate: a new version of the server has different files under the same names. */
const shared = {
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": contentSecurityPolicy,
  "Referrer-Policy": "no-referrer",
};

/** For files that are public, because some editors and generators run in browsers. */
const anyOrigin = { "Access-Control-Allow-Origin": "*" };

interface Page {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A file for generators. */
export interface Download {
  readonly type: string;
  readonly read: () => Uint8Array;
}

/**
 * Serves `/openapi.json`, the API reference at `/docs/` with the guides next to it, and downloads, without authentication.
 *
 * @param readDocument returns the contents of `/openapi.json`.
 * @param downloads by path.
 * @returns a function that returns false, without touching the response, for any other path.
 */
export function createDocsSite(
  readDocument: () => string,
  downloads: Readonly<Record<string, Download>> = {},
): (request: HttpRequest, response: HttpResponse) => boolean {
  // The pages are created on first use and kept in memory: they are few, and compressing one takes longer than most calls.
  const pages = new Map<string, () => Page>([
    ["/openapi.json", once(() => createPage("application/json", readDocument(), anyOrigin))],
  ]);
  for (const [path, { type, read }] of docsFiles()) {
    pages.set(
      `/docs/${path}`,
      once(() => createPage(type, read())),
    );
  }
  for (const [path, { type, read }] of Object.entries(downloads)) {
    pages.set(
      path,
      once(() => createPage(type, read(), anyOrigin)),
    );
  }

  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const page = pages.get(path);
    if (page === undefined && path !== "/docs" && !path.startsWith("/docs/")) return false;
    if (refuseOtherMethods(request, response, path)) return true;
    if (page !== undefined) answerPage(page(), request, response);
    else if (path === "/docs") answer(response, 308, { Location: "/docs/" });
    else answerNotFound(response, path);
    return true;
  };
}

function once(make: () => Page): () => Page {
  let made: Page | undefined;
  return () => (made ??= make());
}

function createPage(type: string, content: string | Uint8Array, headers: Page["headers"] = {}): Page {
  const plain = Buffer.from(content);
  // A weak validator, because the compressed form has the same ETag.
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { type, plain, compressed: gzipSync(plain), etag, headers: { ...shared, ...headers } };
}

function answerPage(
  { type, plain, compressed, etag, headers }: Page,
  request: HttpRequest,
  response: HttpResponse,
): void {
  // The response may also vary by Origin.
  const vary = [response.getHeader("vary"), "Accept-Encoding"].filter((name) => name !== undefined).join(", ");
  const cached = { ...headers, ETag: etag, Vary: vary };
  const known = request.headers["if-none-match"];
  if (known !== undefined && (known.trim() === "*" || known.includes(etag.slice(2)))) {
    answer(response, 304, cached);
    return;
  }
  const accepted = { headers: { "accept-encoding": request.headers["accept-encoding"] ?? "identity" } };
  const isCompressed = new Negotiator(accepted).encoding(["gzip", "identity"]) === "gzip";
  const body = isCompressed ? compressed : plain;
  const coding = isCompressed ? { "Content-Encoding": "gzip" } : {};
  answer(response, 200, { ...cached, ...coding, "Content-Type": type, "Content-Length": String(body.length) }, body);
}

/** Node omits the body of a response to HEAD. */
function answer(response: HttpResponse, code: number, headers: Record<string, string>, body?: Buffer): void {
  // TypeScript cannot call the two overloads through their union.
  if (isHttp2(response)) response.writeHead(code, headers);
  else response.writeHead(code, headers);
  if (body === undefined) response.end();
  else response.end(body);
}

function answerNotFound(response: HttpResponse, path: string): void {
  const message = `Nothing is served at ${path}.`;
  answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message });
}
