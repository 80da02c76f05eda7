// The cookie of a browser that is signed in. The prefix `__Host-` makes browsers keep it for exactly this host, over HTTPS only;
// they make an exception for http://localhost and http://127.0.0.1.
import type { HttpRequest } from "../http-messages.ts";

const name = "__Host-tenantry";
const attributes = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** Returns the value of the cookie; undefined without one, and if several are sent. */
export function readCookie({ headers }: HttpRequest): string | undefined {
  // Only the spaces of RFC 6265. Browsers let other hosts of the site set a cookie whose name begins with U+00A0 and then the
  // prefix, and `trim` would turn it into this one.
  const pairs = (headers.cookie ?? "").split(/;[ \t]*/);
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the header that sets the cookie. It ends with the browser, and after 12 hours in the database. */
export function setCookie(value: string): Record<string, string> {
  return { "Set-Cookie": `${name}=${value}; ${attributes}` };
}

export const clearCookie: Readonly<Record<string, string>> = {
  "Set-Cookie": `${name}=; ${attributes}; Max-Age=0`,
};
