// What clients must be like: their redirect URIs and scopes.
import type { Client } from "../../../gen/iam/v1alpha/client_pb.ts";
import { invalidField } from "../../errors/service-error.ts";
import { everything, findScopeProblem } from "../../identity/tokens/scopes.ts";
import { findRedirectUriProblem } from "./redirect-uri.ts";

/** What people allow a client, as its row stores it. */
interface ClientTerms {
  readonly redirect_uris: string[];
  /** Null for all. */
  readonly scopes: string[] | null;
}

/** @throws ServiceError FIELD_INVALID */
export function readClientTerms({ redirectUris, scopes }: Pick<Client, "redirectUris" | "scopes">): ClientTerms {
  for (const [index, uri] of redirectUris.entries()) {
    const problem = findRedirectUriProblem(uri);
    if (problem !== undefined) throw invalidField(`client.redirect_uris[${index}]`, problem, "redirect_uri");
  }
  const problem = scopes.includes(everything)
    ? "must name areas, collections or permissions; a client without scopes may ask for all"
    : findScopeProblem(scopes);
  if (problem !== undefined) throw invalidField("client.scopes", problem, "scope");
  return { redirect_uris: [...new Set(redirectUris)], scopes: scopes.length === 0 ? null : [...scopes] };
}
