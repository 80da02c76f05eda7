import { answerFile, revalidated, unchanging } from "../answer-file.ts";
import type { HttpRequest, HttpResponse } from "../http-messages.ts";
import { answer, answerError, refuseOtherMethods } from "../plain-error.ts";
import { queryOf, requestPathOf } from "../request-path.ts";
import type { ApiDocument } from "./api-document.ts";
import { docsFiles } from "./docs-files.ts";
import { type ServedFile, createServedFile } from "../served-file.ts";

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

const shared = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": contentSecurityPolicy,
  "Referrer-Policy": "no-referrer",
};

/** For files that are public, because some editors and generators run in browsers. */
const anyOrigin = { "Access-Control-Allow-Origin": "*" };

interface Page {
  readonly file: ServedFile;
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
 * @param document the contents of `/openapi.json`.
 * @param downloads by path.
 * @param answerMissing answers a request for a page that does not exist, or returns false; the answer is JSON then.
 * @returns a function that returns false, without touching the response, for any other path.
 */
export function createDocsSite(
  document: ApiDocument,
  downloads: Readonly<Record<string, Download>> = {},
  answerMissing: (request: HttpRequest, response: HttpResponse) => boolean = () => false,
): (request: HttpRequest, response: HttpResponse) => boolean {
  const pages = new Map<string, Page>();
  const publish = (path: string, { type, read }: Download): void => {
    pages.set(path, { file: createServedFile(type, read), headers: { ...shared, ...anyOrigin } });
  };
  publish("/openapi.json", { type: "application/json", read: () => Buffer.from(JSON.stringify(document)) });
  for (const [path, download] of Object.entries(downloads)) publish(path, download);
  for (const [path, file] of docsFiles(document)) pages.set(`/docs/${path}`, { file, headers: shared });

  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const page = pages.get(path);
    if (page === undefined && path !== "/docs" && !path.startsWith("/docs/")) return false;
    if (refuseOtherMethods(request, response, path)) return true;
    if (page !== undefined) answerPage(page, request, response);
    else if (path === "/docs") answer(response, 308, { Location: "/docs/" });
    else if (!answerMissing(request, response)) answerNotFound(response, path);
    return true;
  };
}

function answerPage({ file, headers }: Page, request: HttpRequest, response: HttpResponse): void {
  const isVersioned = queryOf(request).get("v") === file.digest();
  answerFile(file, { ...headers, "Cache-Control": isVersioned ? unchanging : revalidated }, request, response);
}

function answerNotFound(response: HttpResponse, path: string): void {
  const message = `Nothing is served at ${path}.`;
  answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message });
}
