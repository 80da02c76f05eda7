import { queryOf } from "../../http/request-path.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * @param text as `org=acme&return_to=%2Faccount`.
 * @throws OAuthError invalid_request if one contains NUL, which no text that is stored has.
 */
export function readParameters(text: string): URLSearchParams {
  return requireNoNul(new URLSearchParams(text));
}

/** Reads the parameters in the URL of a request. @throws OAuthError invalid_request if one contains NUL. */
export function readQuery(request: Parameters<typeof queryOf>[0]): URLSearchParams {
  return requireNoNul(queryOf(request));
}

function requireNoNul(parameters: URLSearchParams): URLSearchParams {
  for (const [name, value] of parameters) {
    if (!`${name}${value}`.includes("\0")) continue;
    throw new OAuthError("invalid_request", `the parameter ${JSON.stringify(name.slice(0, 64))} must not contain NUL`);
  }
  return parameters;
}
