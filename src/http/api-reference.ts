import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import Negotiator from "negotiator";
import { pageHtml, pageScript, pageStyle } from "./api-reference-page.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./handler.ts";
import { answerError } from "./plain-error.ts";
import { requestPathOf } from "./request-path.ts";

/** The files of Swagger UI that the page needs; what else the package brings is not served. */
const assets: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/** The page runs only what comes from here, and talks only to this host. Swagger UI has its icons in data URLs. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Copies are kept, and asked about each time: a new version of the server has new ones under the same names. */
const shared = {
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": contentSecurityPolicy,
  "Referrer-Policy": "no-referrer",
};

interface Page {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers `/openapi.json`, and the page at `/docs/` on which people read and try it, to anybody.
 *
 * @param document what `/openapi.json` holds.
 * @returns a function that returns false, without touching the response, when the path is another.
 */
export function createApiReference(document: string): (request: HttpRequest, response: HttpResponse) => boolean {
  // Kept in memory: they are few, and compressing them takes longer than most calls. Made when they are asked for first.
  const pages = new Map<string, () => Page>([
    // Other sites may read it: it is public, and editors and generators run in browsers too.
    ["/openapi.json", once(() => createPage("application/json", document, { "Access-Control-Allow-Origin": "*" }))],
    ["/docs/", once(() => createPage("text/html; charset=utf-8", pageHtml))],
    ["/docs/page.js", once(() => createPage("text/javascript; charset=utf-8", pageScript))],
    ["/docs/page.css", once(() => createPage("text/css; charset=utf-8", pageStyle))],
  ]);
  for (const [name, type] of Object.entries(assets)) {
    pages.set(
      `/docs/${name}`,
      once(() => createPage(type, readAsset(name))),
    );
  }

  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const page = pages.get(path);
    if (page === undefined && path !== "/docs" && !path.startsWith("/docs/")) return false;
    if (request.method !== "GET" && request.method !== "HEAD") {
      const message = `${path} answers GET and HEAD only.`;
      const headers = { Allow: "GET, HEAD" };
      answerError(response, { code: 405, status: "UNIMPLEMENTED", reason: "METHOD_NOT_SUPPORTED", message, headers });
    } else if (page !== undefined) answerPage(page(), request, response);
    else if (path === "/docs") answer(response, 308, { Location: "/docs/" });
    else answerNotFound(response, path);
    return true;
  };
}

function once(make: () => Page): () => Page {
  let made: Page | undefined;
  return () => (made ??= make());
}

function readAsset(name: string): Buffer {
  // Not through the package's main module, which would run the whole of Swagger UI here.
  return readFileSync(new URL(name, import.meta.resolve("swagger-ui-dist/package.json")));
}

function createPage(type: string, content: string | Buffer, headers: Page["headers"] = {}): Page {
  const plain = Buffer.from(content);
  // Weak: it stands for the compressed form too.
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { type, plain, compressed: gzipSync(plain), etag, headers: { ...shared, ...headers } };
}

function answerPage(
  { type, plain, compressed, etag, headers }: Page,
  request: HttpRequest,
  response: HttpResponse,
): void {
  // The answer may vary by its origin too.
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

/** Node leaves the body out when it answers a HEAD. */
function answer(response: HttpResponse, code: number, headers: Record<string, string>, body?: Buffer): void {
  // The two overloads cannot be called through their union.
  if (isHttp2(response)) response.writeHead(code, headers);
  else response.writeHead(code, headers);
  if (body === undefined) response.end();
  else response.end(body);
}

function answerNotFound(response: HttpResponse, path: string): void {
  const message = `Nothing is served at ${path}.`;
  answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message });
}
