import type { HttpRequest } from "../http-messages.ts";

const absoluteForm = /^https?:\/\/([^/?#]*)([^#]*)$/i;

/**
 * Converts a request target in absolute form (RFC 9112, 3.2.2), which clients send to proxies, to the origin form: the path and the
 * query. Its host replaces the header `Host`.
 */
export function toOriginForm(request: HttpRequest): void {
  const { url = "" } = request;
  if (url.startsWith("/")) return;
  const [, authority = "", rest = ""] = absoluteForm.exec(url) ?? [];
  if (authority === "") return;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  request.headers.host = authority;
}
