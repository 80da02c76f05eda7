import { OAuthError } from "../oauth/oauth-error.ts";

const maxLength = 4_096;

/** Where a browser goes that was not sent by another page. */
export const home = "/account";

/** Any host: only the path counts. */
const base = "http://localhost";

/**
 * Returns the path of this service to which a browser may be sent, as it is written in a `Location`; undefined for a text that
 * leads, or that some browser might read as leading, to another host.
 */
export function readReturnPath(text: string): string | undefined {
  if (text.length > maxLength || !/^\/[!-~]*$/.test(text) || text.includes("\\")) return undefined;
  if (!URL.canParse(text, base)) return undefined;
  const { origin, pathname, search } = new URL(text, base);
  // `/.//example.com` is normalised to `//example.com`, which names a host.
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : undefined;
}

/** Returns the path to which a request asks that the browser be sent; `/account` if it has none. @throws OAuthError invalid_request */
export function requireReturnPath(text: string | null | undefined): string {
  const path = readReturnPath(text ?? home);
  if (path !== undefined) return path;
  throw new OAuthError("invalid_request", `return_to must be a path of this service, such as ${home}`);
}

export function choicePath(returnPath: string): string {
  return `/sign-in/choice?${new URLSearchParams({ return_to: returnPath }).toString()}`;
}

export function signInPath(returnPath: string): string {
  return `/sign-in?${new URLSearchParams({ return_to: returnPath }).toString()}`;
}
