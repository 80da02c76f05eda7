// Scopes name permissions, so those of this service must exist, as in roles: a scope that is misspelt would only show in what is denied.
import { findNarrowScopeProblem, findScopeProblem } from "../../identity/tokens/scopes.ts";
import { findUnknownPermission } from "./find-unknown-permission.ts";

/**
 * Returns why scopes cannot be asked for in a token; undefined if they can.
 *
 * @param known all permissions of this service.
 */
export function findTokenScopeProblem(scopes: readonly string[], known: readonly string[]): string | undefined {
  return findScopeProblem(scopes) ?? findUnknownScope(scopes, known);
}

/**
 * Returns why scopes cannot be given to an API key or a client, which has all without any; undefined if they can.
 *
 * @param withoutAny says that, for the error.
 * @param known all permissions of this service, and scopes that it has already, which may be of a newer version.
 */
export function findGivenScopeProblem(
  scopes: readonly string[],
  withoutAny: string,
  known: readonly string[],
): string | undefined {
  return findNarrowScopeProblem(scopes, withoutAny) ?? findUnknownScope(scopes, known);
}

function findUnknownScope(scopes: readonly string[], known: readonly string[]): string | undefined {
  return scopes.map((scope) => findUnknownPermission(scope, known)).find((problem) => problem !== undefined);
}
