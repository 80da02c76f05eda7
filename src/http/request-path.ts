export function queryOf({ url = "" }: { readonly url?: string | undefined }): URLSearchParams {
  return new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");
}

/**
 * Returns the path of a request target, without the query and, for the absolute form (RFC 9112, 3.2.2), without scheme, user
 * and host.
 */
export function requestPathOf(target: string): string {
  const end = target.indexOf("?");
  const path = end === -1 ? target : target.slice(0, end);
  if (path.startsWith("/")) return path;
  const authority = path.indexOf("://");
  if (authority === -1) return path;
  const start = path.indexOf("/", authority + 3);
  return start === -1 ? "/" : path.slice(start);
}
