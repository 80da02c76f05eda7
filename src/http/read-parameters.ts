import { OAuthError } from "./oauth/oauth-error.ts";

/**
 * Reads parameters of a form or of the query of a URL.
 *
 * @param text as `org=acme&return_to=%2Faccount`.
 * @throws OAuthError invalid_request if one contains NUL, which no text that is stored has.
 */
export function readParameters(text: string): URLSearchParams {
  const parameters = new URLSearchParams(text);
  for (const [name, value] of parameters) {
    if (!`${name}${value}`.includes("\0")) continue;
    throw new OAuthError("invalid_request", `the parameter ${JSON.stringify(name.slice(0, 64))} must not contain NUL`);
  }
  return parameters;
}
