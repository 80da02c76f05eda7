// The console: the pages for people, which a browser loads once and which then call the API, and the session with which they do. Each
// screen has an address of its own below `/console/`, so all of these answer the same page.
import { answerFile, revalidated, unchanging } from "../http/answer-file.ts";
import type { HttpRequest, HttpResponse } from "../http/http-messages.ts";
import { answer, answerError, refuseOtherMethods } from "../http/plain-error.ts";
import type { RequestPace } from "../http/request-pace.ts";
import { requestPathOf } from "../http/request-path.ts";
import { prefersHtml } from "../sign-in/browser/answer-missing-page.ts";
import { page, redirect, send } from "../sign-in/browser/browser-responses.ts";
import { unbuiltPage } from "../sign-in/browser/pages.ts";
import { type ConsoleFiles, readConsole } from "./console-files.ts";
import { type SessionEndpointDependencies, createSessionEndpoint, sessionPath } from "./session-endpoint.ts";

export interface ConsoleDependencies extends SessionEndpointDependencies {
  /** Where the built console is, a URL that ends with a slash; undefined if it was not built. */
  readonly folder: URL | undefined;
}

/** Answers a request, or returns undefined if it is for another path. */
type AnswerConsole = (
  request: HttpRequest,
  response: HttpResponse,
  pace: RequestPace,
) => Promise<void> | true | undefined;

/** The console loads nothing from elsewhere, runs no script and applies no style that is not a file of it, and is in no frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const ofAssets = { "Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff" };

const ofPages = {
  ...ofAssets,
  "Content-Security-Policy": contentSecurityPolicy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
};

const root = "/console/";
const assetPath = `${root}assets/`;
/** Browsers ask for it where a page names no icon, such as for the pages of the sign-in. */
const iconPath = "/favicon.ico";

export function createConsole(dependencies: ConsoleDependencies): AnswerConsole {
  const { folder } = dependencies;
  const answerSession = createSessionEndpoint(dependencies);
  let read: ConsoleFiles | undefined;

  const answerIcon = (request: HttpRequest, response: HttpResponse): void => {
    if (folder !== undefined) read ??= readConsole(folder);
    if (read?.icon === undefined) answer(response, 204, {});
    else answerFile(read.icon, { ...ofAssets, "Cache-Control": revalidated }, request, response);
  };

  const answerPath = (path: string, request: HttpRequest, response: HttpResponse): void => {
    if (folder === undefined) {
      send(response, { ...page(unbuiltPage()), status: 501 });
      return;
    }
    read ??= readConsole(folder);
    if (!path.startsWith(assetPath)) {
      answerFile(read.index, { ...ofPages, "Cache-Control": revalidated }, request, response);
      return;
    }
    const asset = read.assets.get(path.slice(assetPath.length));
    if (asset !== undefined) answerFile(asset, { ...ofAssets, "Cache-Control": unchanging }, request, response);
    else answerMissingAsset(path, response);
  };

  return (request, response, pace) => {
    const path = requestPathOf(request.url ?? "");
    // Programs get the index of the API there.
    if (path === "/" && folder !== undefined && isGet(request) && prefersHtml(request.headers.accept)) {
      send(response, redirect(root, { Vary: "Accept" }));
      return true;
    }
    if (path === sessionPath) return answerSession(request, response, pace);
    if (path !== "/console" && path !== iconPath && !path.startsWith(root)) return undefined;
    if (refuseOtherMethods(request, response, path)) return true;
    if (path === iconPath) answerIcon(request, response);
    else if (path === "/console") answer(response, 308, { Location: root });
    else answerPath(path, request, response);
    return true;
  };
}

const isGet = ({ method }: HttpRequest): boolean => method === "GET" || method === "HEAD";

function answerMissingAsset(path: string, response: HttpResponse): void {
  // Another server of the service may have it, or soon will.
  const headers = { "Cache-Control": "no-store" };
  const message = `Nothing is served at ${path}: it is of another version of the console; reload the page.`;
  answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message, headers });
}
