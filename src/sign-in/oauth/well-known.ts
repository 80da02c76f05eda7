import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import { answerJson, refuseOtherMethods } from "../../http/plain-error.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { oauthPaths } from "./oauth-endpoints.ts";

export interface WellKnown {
  readonly issuer: () => string;
  readonly algorithm: string;
  readonly keySet: () => Promise<object>;
  readonly logKeySet: () => object;
  /** The client with which the command line signs people in. */
  readonly commandLineClientId: string;
}

const keySetPath = "/.well-known/jwks.json";

/** Answers a request, or returns undefined if it is for another path. */
type AnswerWellKnown = (request: HttpRequest, response: HttpResponse) => Promise<void> | undefined;

/** Much shorter than the day for which a key is published before it signs. */
const headers = { "Cache-Control": "public, max-age=300" };

/**
 * Serves the public keys (RFC 7517) of tokens, of security events and of the signed heads of logs, and the metadata of the authorization
 * server (RFC 8414, OpenID Connect Discovery) and of the transmitter of events (OpenID Shared Signals Framework 1.0, 7), without
 * authentication.
 */
export function createWellKnown(given: WellKnown): AnswerWellKnown {
  const pages: Readonly<Record<string, () => object | Promise<object>>> = {
    [keySetPath]: given.keySet,
    "/.well-known/log-keys.json": given.logKeySet,
    "/.well-known/openid-configuration": () => describe(given),
    "/.well-known/oauth-authorization-server": () => describe(given),
    "/.well-known/ssf-configuration": () => describeTransmitter(given.issuer()),
  };
  const answer = async (page: () => object | Promise<object>, response: HttpResponse): Promise<void> =>
    answerJson(response, 200, JSON.stringify(await page()), headers);
  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return undefined;
    return refuseOtherMethods(request, response, path) ? Promise.resolve() : answer(page, response);
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

/** Streams are made and changed as resources of orgs, so there are no endpoints for that (docs/signals.md). */
const describeTransmitter = (issuer: string): object => ({
  spec_version: "1_0",
  issuer,
  jwks_uri: `${issuer}${keySetPath}`,
  delivery_methods_supported: ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"],
  critical_subject_members: [],
  default_subjects: "ALL",
});
