import Negotiator from "negotiator";
import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { page, send } from "./browser-responses.ts";
import { missingPage } from "./pages.ts";

/** A longer header is not looked at: no browser sends one. */
const longestAccept = 1024;

/**
 * Answers a browser that looks for a page where there is none with a page that says so. Returns false, without touching the response, for
 * requests that do not prefer HTML: they get the error as JSON.
 */
export function answerMissingPage(request: HttpRequest, response: HttpResponse): boolean {
  const { method = "", url = "", headers } = request;
  if ((method !== "GET" && method !== "HEAD") || !prefersHtml(headers.accept)) return false;
  send(response, { ...page(missingPage(requestPathOf(url))), status: 404 });
  return true;
}

/** Reports whether a client would rather have HTML than JSON, as browsers do that go to an address. */
export function prefersHtml(accept = ""): boolean {
  if (accept.length > longestAccept || !accept.includes("text/html")) return false;
  return new Negotiator({ headers: { accept } }).mediaType(["application/json", "text/html"]) === "text/html";
}
