// The cookie of a browser that is signed in. The prefix `__Host-` makes browsers keep it for exactly this host, over HTTPS only;
// they make an exception for http://localhost and http://127.0.0.1.
import type { HttpRequest } from "../../http/http-messages.ts";

/** The cookie of a browser that is signed in, and the one of a browser that signs in at an identity provider. */
const names = { session: "__Host-tenantry", start: "__Host-tenantry-start" } as const;
type CookieKind = keyof typeof names;

const attributes = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** Returns the value of a cookie; undefined without one, and if several are sent. */
export function readCookie({ headers }: HttpRequest, kind: CookieKind = "session"): string | undefined {
  // Only the spaces of RFC 6265. Browsers let other hosts of the site set a cookie whose name begins with U+00A0 and then the
  // prefix, and `trim` would turn it into this one.
  const name = names[kind];
  const pairs = (headers.cookie ?? "").split(/;[ \t]*/);
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the value of a header that sets a cookie. It ends with the browser; that of a session after 12 hours in the database. */
export function setCookie(value: string, kind: CookieKind = "session"): string {
  return `${names[kind]}=${value}; ${attributes}`;
}

export function clearCookie(kind: CookieKind = "session"): string {
  return `${names[kind]}=; ${attributes}; Max-Age=0`;
}
