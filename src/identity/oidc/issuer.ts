import { findUrlProblem } from "../outgoing/url-problem.ts";

/** Returns why a text cannot be the issuer of an identity provider, as a phrase that follows its name; undefined if it can. */
export function findIssuerProblem(text: string, networks: readonly string[]): string | undefined {
  const problem = findUrlProblem(text, networks);
  if (problem !== undefined) return problem;
  const { href, origin, search, hash } = new URL(text);
  if (`${search}${hash}` !== "" || /[?#]/.test(text)) return "must not contain a query or a fragment";
  // An ID token names its issuer with exactly this text.
  if (text !== href && `${text}/` !== `${origin}/`) return `must be in canonical form: ${href}`;
  return undefined;
}
