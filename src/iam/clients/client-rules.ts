// What clients must be like: their redirect URIs and scopes.
import type { Client } from "../../../gen/iam/v1alpha/client_pb.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { areWithin, intersect } from "../../access/engine/decisions/narrowing.ts";
import { findGivenScopeProblem } from "../roles/find-scope-problem.ts";
import { findRedirectUriProblem, isRegisteredUri } from "./redirect-uri.ts";

/** What people allow a client, as its row stores it. */
interface ClientTerms {
  readonly redirect_uris: string[];
  /** Null for all. */
  readonly scopes: string[] | null;
}

/**
 * Reads what people may allow a client.
 *
 * @param knownScopes all permissions of this service, and the scopes that the client has already.
 * @throws ServiceError FIELD_INVALID
 */
export function readClientTerms(
  { redirectUris, scopes }: Pick<Client, "redirectUris" | "scopes">,
  knownScopes: readonly string[],
): ClientTerms {
  for (const [index, uri] of redirectUris.entries()) {
    const problem = findRedirectUriProblem(uri);
    if (problem !== undefined) throw invalidField(`client.redirect_uris[${index}]`, problem, "redirect_uri");
  }
  const problem = findGivenScopeProblem(scopes, "a client without scopes may ask for all", knownScopes);
  if (problem !== undefined) throw invalidField("client.scopes", problem, "scope");
  return { redirect_uris: [...new Set(redirectUris)], scopes: scopes.length === 0 ? null : [...scopes] };
}

/** Reports whether a change gives a client redirect URIs or scopes that it does not have. */
export function widens(before: ClientTerms, after: ClientTerms): boolean {
  if (!after.redirect_uris.every((uri) => isRegisteredUri(before.redirect_uris, uri))) return true;
  return !areWithin(after.scopes ?? undefined, before.scopes ?? undefined);
}

/** What a person has allowed a client, as the row of a code or a session stores it, with what the client has now. */
export interface AllowedTerms {
  /** Null for a session of a server of an earlier version, which is not compared. */
  readonly redirect_uri: string | null;
  /** Null for all. */
  readonly scopes: readonly string[] | null;
  readonly client_redirect_uris: readonly string[];
  readonly client_scopes: readonly string[] | null;
}

/**
 * Returns the scopes that a client still has of those that a person has allowed it; undefined for all. A code and each refresh are
 * compared with what the client has then, so that narrowing it reaches what exists.
 *
 * @throws ServiceError GRANT_INVALID when the client no longer has the redirect URI, or any of the scopes.
 */
export function scopesStillAllowed(allowed: AllowedTerms): readonly string[] | undefined {
  const { redirect_uri: uri, client_redirect_uris: uris } = allowed;
  if (uri !== null && !isRegisteredUri(uris, uri)) {
    throw new ServiceError("GRANT_INVALID", `the client no longer has the redirect_uri ${uri}: ask the person again`);
  }
  const scopes = intersect(allowed.scopes ?? undefined, allowed.client_scopes ?? undefined);
  if (scopes?.length !== 0) return scopes;
  const message = "the client may no longer ask for any of the scopes that the person allowed: ask the person again";
  throw new ServiceError("GRANT_INVALID", message);
}
