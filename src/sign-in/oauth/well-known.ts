import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import { answerJson, refuseOtherMethods } from "../../http/plain-error.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { oauthPaths } from "./oauth-endpoints.ts";

export interface WellKnown {
  readonly issuer: () => string;
  readonly algorithm: string;
  readonly keySet: () => object;
  readonly logKeySet: () => object;
  /** The client with which the command line signs people in. */
  readonly commandLineClientId: string;
}

const keySetPath = "/.well-known/jwks.json";

/** Much shorter than the day for which a key is published before it signs. */
const headers = { "Cache-Control": "public, max-age=300" };

/**
 * Serves the public keys (RFC 7517) of tokens and of the signed heads of logs, and the metadata of the authorization server (RFC 8414,
 * OpenID Connect Discovery), without authentication.
 */
export function createWellKnown(given: WellKnown): (request: HttpRequest, response: HttpResponse) => boolean {
  const pages: Readonly<Record<string, () => object>> = {
    [keySetPath]: given.keySet,
    "/.well-known/log-keys.json": given.logKeySet,
    "/.well-known/openid-configuration": () => describe(given),
    "/.well-known/oauth-authorization-server": () => describe(given),
  };
  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return false;
    if (refuseOtherMethods(request, response, path)) return true;
    answerJson(response, 200, JSON.stringify(page()), headers);
    return true;
  };
}

function describe({ issuer, algorithm, commandLineClientId }: WellKnown): object {
  const base = issuer();
  const methods = ["client_secret_basic", "client_secret_post"];
  return {
    issuer: base,
    jwks_uri: `${base}${keySetPath}`,
    authorization_endpoint: `${base}${oauthPaths.authorize}`,
    token_endpoint: `${base}${oauthPaths.token}`,
    introspection_endpoint: `${base}${oauthPaths.introspect}`,
    revocation_endpoint: `${base}${oauthPaths.revoke}`,
    grant_types_supported: ["authorization_code", "client_credentials", "refresh_token"],
    scopes_supported: ["openid", "offline_access"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: ["none", "login", "select_account", "consent"],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [algorithm],
    token_endpoint_auth_methods_supported: [...methods, "none"],
    introspection_endpoint_auth_methods_supported: [...methods, "bearer"],
    revocation_endpoint_auth_methods_supported: [...methods, "none"],
    tenantry_command_line_client_id: commandLineClientId,
  };
}
