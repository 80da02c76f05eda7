// The cookie of a browser that is signed in. The prefix `__Host-` makes browsers keep it for exactly this host, over HTTPS only;
// they make an exception for http://localhost and http://127.0.0.1.
import { hash } from "node:crypto";
import type { HttpRequest } from "../../http/http-messages.ts";

/** The cookie with the session of the member as which the console was used last. It is no secret: it only chooses among the members. */
export const lastUsed = "__Host-tenantry-member";

/** The cookies with the secret of an invitation that a browser has opened, and with the person who has signed in for it, encrypted. */
export const invitationCookie = "__Host-tenantry-invitation";
export const invitedCookie = "__Host-tenantry-invited";

/**
 * The cookie of a browser that is signed in, the one with the org at whose identity provider it last signed in, and those of sign-ins at
 * identity providers that have begun: one for each state, so that those of several tabs do not replace each other.
 */
type CookieName =
  | "__Host-tenantry"
  | "__Host-tenantry-org"
  | typeof lastUsed
  | typeof invitationCookie
  | typeof invitedCookie
  | `${typeof startPrefix}${string}`;

const startPrefix = "__Host-tenantry-start-";

/** How many sign-ins of a browser may have begun, and the characters of their cookies. All are sent with each request, whose head is limited. */
const maxStarted = 5;
const maxStartedLength = 8_192;

/**
 * The life of the cookie of a sign-in that has begun, in seconds. It is longer than that of the sign-in, so that who comes back too late can
 * sign in again for the same request.
 */
const startedSeconds = 3_600;

/** Returns the name of the cookie of a sign-in by its state, which only the browser and the provider know. */
export const startCookie = (state: string): CookieName =>
  `${startPrefix}${hash("sha256", state, "base64url").slice(0, 22)}`;

const attributes = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** Returns the value of a cookie; undefined without one, and if several are sent. */
export function readCookie(request: HttpRequest, name: CookieName = "__Host-tenantry"): string | undefined {
  const values = pairsOf(request).filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

function pairsOf({ headers }: HttpRequest): string[] {
  // Only the spaces of RFC 6265. Browsers let other hosts of the site set a cookie whose name begins with U+00A0 and then the
  // prefix, and `trim` would turn it into this one.
  return (headers.cookie ?? "").split(/;[ \t]*/);
}

/** Returns the value of a header that sets a cookie. It ends with the browser; that of a session after 12 hours in the database. */
export function setCookie(value: string, name: CookieName = "__Host-tenantry"): string {
  return `${name}=${value}; ${attributes}`;
}

/** Returns the headers that set the cookie of a sign-in that begins, and clear the oldest of those that the browser has too many of. */
export function setStartCookie(request: HttpRequest, state: string, value: string): string[] {
  const own = startCookie(state);
  let room = maxStartedLength - own.length - value.length;
  // Browsers send the cookies first that were set first (RFC 6265, 5.4).
  const newestFirst = pairsOf(request)
    .filter((pair) => /^__Host-tenantry-start-[\w-]+=/.test(pair))
    .toReversed();
  const surplus = newestFirst.filter((pair, index) => (room -= pair.length) < 0 || index >= maxStarted - 1);
  return [
    `${setCookie(value, own)}; Max-Age=${startedSeconds}`,
    ...surplus.map((pair) => clearCookie(pair.slice(0, pair.indexOf("=")) as CookieName)),
  ];
}

export function clearCookie(name: CookieName = "__Host-tenantry"): string {
  return `${name}=; ${attributes}; Max-Age=0`;
}
