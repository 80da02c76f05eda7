// The client of OpenID providers: the authorization code flow with PKCE (RFC 7636) and a nonce. Configuration and keys are read
// for each sign-in, so that nothing has to be kept for a number of providers that others choose, and new keys count at once.
import {
  AuthorizationResponseError,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type IDToken,
  None,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from "openid-client";
import { causesOf } from "../../errors/causes-of.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type GuardedFetch, ProviderError } from "./guarded-fetch.ts";
import { findUrlProblem } from "../outgoing/url-problem.ts";
import { createSlots } from "../outgoing/slots.ts";

/** How a client proves at the token endpoint that it has its secret (OpenID Connect Core, 9). */
export type AuthMethod = "CLIENT_SECRET_BASIC" | "CLIENT_SECRET_POST";

/** A provider, and the client that this service is there. */
export interface OidcProvider {
  readonly orgId: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Null for what the provider supports, Basic first. */
  readonly authMethod: AuthMethod | null;
  readonly scopes: readonly string[];
  /** The claim of the ID token that is the subject; empty for `sub`. */
  readonly subjectClaim: string;
}

/** What binds an authorization response to the browser that asked for it. */
interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
}

/** What a sign-in asks of a provider besides who the person is. */
interface SignInWishes {
  /** The scopes that are asked for if the provider has them, besides those that are set. */
  readonly scopes: readonly string[];
  /** Whether the person is to sign in again, as somebody else perhaps. */
  readonly again: boolean;
}

/** A person, as a provider describes it. */
interface ProviderPerson {
  readonly subject: string;
  /**
   * Returns what the provider says: the claims of the ID token and, if it has no address, those of the userinfo endpoint.
   *
   * @throws ServiceError GRANT_INVALID or SERVICE_UNAVAILABLE
   */
  readonly readClaims: () => Promise<Readonly<Record<string, unknown>>>;
}

/** What a provider says of the address of a person: each part is undefined if it says nothing. */
export interface PersonClaims {
  /** Empty for what is no text. */
  readonly email: string | undefined;
  readonly isVerified: boolean | undefined;
  readonly name: string | undefined;
}

export interface ProviderClient {
  /** Returns where a browser is sent to sign in. @throws ServiceError GRANT_INVALID or SERVICE_UNAVAILABLE */
  authorizationUrl(
    provider: OidcProvider,
    redirectUri: string,
    secrets: SignInSecrets,
    wishes: SignInWishes,
  ): Promise<URL>;
  /**
   * Redeems the code of an authorization response, and returns the person of the ID token.
   *
   * @param response the URL to which the provider sent the browser.
   * @throws ServiceError GRANT_INVALID or SERVICE_UNAVAILABLE
   */
  redeem(provider: OidcProvider, response: URL, secrets: SignInSecrets): Promise<ProviderPerson>;
}

/** The maximum number of calls at once: of the providers of an org, and of all. A call takes a few seconds at most. */
const slots = { perKey: 8, total: 256 };

export function createProviderClient(guardedFetch: GuardedFetch, networks: readonly string[]): ProviderClient {
  const withSlot = createSlots({ ...slots, full: busy });

  const configure = async ({ issuer, clientId, clientSecret, authMethod }: OidcProvider): Promise<Configuration> => {
    const auth = clientSecret === undefined ? None() : withSecret(clientSecret, authMethod);
    return discovery(new URL(issuer), clientId, undefined, auth, {
      // Without this, the signature of an ID token that comes from the token endpoint is not verified.
      execute: issuer.startsWith("http:")
        ? [allowInsecureRequests, enableNonRepudiationChecks]
        : [enableNonRepudiationChecks],
      [customFetch]: guardedFetch,
    });
  };

  return {
    authorizationUrl: (provider, redirectUri, { state, nonce, verifier }, { scopes, again }) =>
      withSlot(provider.orgId, async () => {
        try {
          const configuration = await configure(provider);
          const wished = scopes.filter((scope) => offersScope(configuration, scope));
          const url = buildAuthorizationUrl(configuration, {
            redirect_uri: redirectUri,
            response_type: "code",
            scope: [...new Set(["openid", ...provider.scopes, ...wished])].join(" "),
            ...(again && { prompt: "login" }),
            state,
            nonce,
            code_challenge: await calculatePKCECodeChallenge(verifier),
            code_challenge_method: "S256",
          });
          const problem = findUrlProblem(url.href, networks);
          if (problem === undefined) return url;
          throw new ProviderError(`a URL of the identity provider ${problem}`);
        } catch (error) {
          throw explain(error);
        }
      }),

    redeem: (provider, response, { state, nonce, verifier }) =>
      withSlot(provider.orgId, async () => {
        try {
          const configuration = await configure(provider);
          const tokens = await authorizationCodeGrant(configuration, response, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          });
          const claims = tokens.claims();
          requireClaims(claims, provider.clientId);
          const subject = readSubject(claims, provider.subjectClaim);
          const readClaims = () =>
            withSlot(provider.orgId, () => addUserInfo(configuration, tokens.access_token, claims));
          return { subject, readClaims };
        } catch (error) {
          throw explain(error);
        }
      }),
  };
}

/** Returns the claims of an ID token, with those of the userinfo endpoint if they have no address. @throws ServiceError */
async function addUserInfo(configuration: Configuration, accessToken: string, claims: IDToken | undefined) {
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (claims?.["email"] !== undefined || !hasUserInfo) return { ...claims };
  try {
    const more = await fetchUserInfo(configuration, accessToken, claims?.sub ?? "");
    // Whether an address is verified is said where the address is.
    return { ...more, ...claims, email_verified: more.email_verified };
  } catch (error) {
    throw explain(error);
  }
}

/** Whether a provider has a scope. One that does not list its scopes is asked. */
function offersScope(configuration: Configuration, scope: string): boolean {
  return configuration.serverMetadata().scopes_supported?.includes(scope) ?? true;
}

const maxSubjectLength = 255;

/**
 * Returns who a person is, as the ID token says.
 *
 * @param claim that says so; empty for `sub`.
 * @throws ProviderError
 */
function readSubject(claims: IDToken | undefined, claim: string): string {
  const name = claim === "" ? "sub" : claim;
  const subject = claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined;
  const isText = typeof subject === "string" && subject !== "" && subject.length <= maxSubjectLength;
  // PostgreSQL stores no NUL, and of all that is not Unicode the same: two people would be one.
  if (isText && !subject.includes("\0") && subject.isWellFormed()) return subject;
  const where = `its claim ${name}${claim === "" ? "" : `, which is the subject_claim of this identity provider`}`;
  throw new ProviderError(
    isText
      ? `the ID token names no subject: NUL, or half of a surrogate pair, which is no Unicode, is in ${where}`
      : `the ID token names no subject: no text of 1 to ${maxSubjectLength} characters is in ${where}`,
  );
}

/** The longest name and address that are kept, in characters: they travel in a cookie. */
const maxNameLength = 200;
const maxEmailLength = 254;

/** Reads what claims say of an address, each of which may be anything. Some providers write `email_verified` as a text. */
export function readPersonClaims({
  email,
  email_verified: verified,
  name,
}: Readonly<Record<string, unknown>>): PersonClaims {
  return {
    email: email === undefined ? undefined : typeof email === "string" && email.length <= maxEmailLength ? email : "",
    isVerified: verified === undefined ? undefined : verified === true || verified === "true",
    name: typeof name === "string" ? name.slice(0, maxNameLength) : undefined,
  };
}

/** How far the clock of a provider may be ahead, in seconds. */
const maxClockSkewSeconds = 60;

/**
 * Checks what `openid-client` does not: that an ID token is for this client, also if its audience is this client alone, and was not issued in
 * the future (OpenID Connect Core, 3.1.3.7).
 *
 * @throws ProviderError
 */
function requireClaims(claims: IDToken | undefined, clientId: string): void {
  if (claims?.azp !== undefined && claims.azp !== clientId) {
    throw new ProviderError("the ID token is for another client (azp)");
  }
  if ((claims?.iat ?? 0) > Date.now() / 1_000 + maxClockSkewSeconds) {
    throw new ProviderError("the ID token was issued in the future (iat): the clocks differ");
  }
}

/**
 * Sends a secret as the provider knows the client: as it is set, and otherwise by Basic authentication, as OpenID Connect does by default,
 * unless the provider lists its methods and has the body alone.
 */
function withSecret(secret: string, method: AuthMethod | null): ClientAuth {
  return (server, client, body, headers) => {
    const listed = server.token_endpoint_auth_methods_supported ?? [];
    const isBodyAlone = listed.includes("client_secret_post") && !listed.includes("client_secret_basic");
    const inBody = method === null ? isBodyAlone : method === "CLIENT_SECRET_POST";
    const auth = inBody ? ClientSecretPost(secret) : ClientSecretBasic(secret);
    return auth(server, client, body, headers);
  };
}

function busy(): ServiceError {
  const message = "too many people are signing in through the identity providers of this org; try again";
  return new ServiceError("SERVICE_UNAVAILABLE", message);
}

/** Returns the error for the person who signs in. What a provider says about an error is shortened. */
function explain(error: unknown): ServiceError {
  if (error instanceof AuthorizationResponseError && error.error === "access_denied") {
    const message = "the sign-in was cancelled at the identity provider (access_denied)";
    return new ServiceError("GRANT_INVALID", message, { cause: error });
  }
  const own = causesOf(error).find((each) => each instanceof ProviderError);
  const reason = own?.message ?? (error instanceof Error ? describe(error) : "unknown");
  return new ServiceError("GRANT_INVALID", `the identity provider cannot be used: ${reason.slice(0, 300)}`, {
    cause: error,
  });
}

/** An error of the provider has a code in `error`: `access_denied`. */
function describe(error: Error & { readonly error?: unknown; readonly error_description?: unknown }): string {
  const parts = [error.message, error.error, error.error_description].filter((part) => typeof part === "string");
  const [first] = causesOf(error.cause);
  return [...parts, ...(first === undefined ? [] : [first.message])].join(": ");
}
