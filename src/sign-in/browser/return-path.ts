import { OAuthError } from "../oauth/oauth-error.ts";

/** So that it fits, encrypted, into the cookie of a sign-in that has begun: browsers keep none of more than 4096 characters. */
const maxLength = 2_600;

/** Where a browser goes that was not sent by another page. */
export const home = "/console/";

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
  const path = `${pathname}${search}`;
  // `/.//example.com` is normalised to `//example.com`, which names a host. Some characters become three.
  return origin === base && !pathname.startsWith("//") && path.length <= maxLength ? path : undefined;
}

/**
 * Returns the path to which a request asks that the browser be sent; the console if it has none.
 *
 * @throws OAuthError invalid_request
 */
function requireReturnPath(text: string | null | undefined): string {
  const path = readReturnPath(text ?? home);
  if (path !== undefined) return path;
  const length = `at most ${maxLength} characters; a client whose request is longer must shorten it, for example its state`;
  throw new OAuthError("invalid_request", `return_to must be a path of this service, such as ${home}, of ${length}`);
}

/** Where a sign-in leads, and the org whose identity providers it offers besides those of the installation. */
export interface Destination {
  readonly returnPath: string;
  /** The name of the org; undefined for none. */
  readonly org: string | undefined;
}

/** The destination of a browser that was not sent by another page. */
export const atHome: Destination = { returnPath: home, org: undefined };

/**
 * Reads where a request of a sign-in leads.
 *
 * @param parameters of a URL or a form.
 * @throws OAuthError invalid_request
 */
export function readDestination(parameters: {
  readonly get: (name: string) => string | null | undefined;
}): Destination {
  return { returnPath: requireReturnPath(parameters.get("return_to")), org: readOrgName(parameters.get("org")) };
}

/** Returns the name of an org; undefined for a text that no org has as its name. */
export function readOrgName(text: string | null | undefined): string | undefined {
  return text !== null && text !== undefined && /^[a-z0-9-]{1,64}$/.test(text) ? text : undefined;
}

/** Returns the path of the page where a person chooses a member and then comes back. */
export const choicePath = (destination: Destination): string => `/sign-in/choice?${parametersOf(destination)}`;

/** Returns the path of the page where a browser signs in and then comes back. */
export const signInPath = (destination: Destination): string => `/sign-in?${parametersOf(destination)}`;

function parametersOf({ returnPath, org }: Destination): string {
  return new URLSearchParams({ return_to: returnPath, ...(org !== undefined && { org }) }).toString();
}
