/** The scope that asks for a session, in which the token can be refreshed (OpenID Connect Core, 11). */
const offline = "offline_access";

/** The scope that clients send that use OpenID Connect. There are no ID tokens, so it asks for nothing, and is not granted. */
const openId = "openid";

interface AskedScope {
  /** Those that name permissions; empty for all that can be had. */
  readonly scopes: readonly string[];
  /** Whether it asks for a refresh token. */
  readonly isOffline: boolean;
}

/** Reads the parameter `scope` of a request (RFC 6749, 3.3). */
export function readScope(text: string | null | undefined): AskedScope {
  const words = wordsOf(text);
  return {
    scopes: words.filter((word) => word !== offline && word !== openId),
    isOffline: words.includes(offline),
  };
}

/** Returns the words of a parameter that is a list with spaces. */
export const wordsOf = (text: string | null | undefined): string[] =>
  (text ?? "").split(" ").filter((word) => word !== "");

/** What this service calls by another name in its API. Other unknown parameters are ignored (RFC 6749, 3.1 and 3.2). */
const namesOfApi = { scopes: "scope, a list with spaces", project_path: "project, at the token endpoint" } as const;

/** Returns what to write instead of a parameter that narrows a token in the API and would do nothing here; undefined without one. */
export function findApiName(parameters: { readonly has: (name: string) => boolean }): string | undefined {
  const given = Object.entries(namesOfApi).find(([name]) => parameters.has(name));
  return given && `there is no parameter ${given[0]}: it is called ${given[1]}`;
}
