import { formatReferences } from "../paths/format-path.ts";
import { type PathPattern, otherPatterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";

/**
 * Where access is asked for: the nearest project, org or customer around what a path names, or the platform as a whole. What
 * is granted there and above counts.
 */
export type Place =
  | { readonly kind: "platform" }
  /** What is the same for all orgs: whoever holds something on its own org holds it there, too. */
  | { readonly kind: "shared" }
  | { readonly kind: "customer"; readonly customer: Reference }
  | {
      readonly kind: "org";
      readonly org: Reference;
      readonly project: Reference | undefined;
      /** Whether it is the org or project itself that is named, nothing in it. */
      readonly isItself: boolean;
      /** Whether it stands for several, by a `-`. */
      readonly isMany: boolean;
      /** What follows on the project or org, `/instances/db-1`; empty for itself. */
      readonly rest: string;
    };

const platform: Place = { kind: "platform" };

/** @param references those of the pattern; a list's parent or a resource. */
export function placeOf(pattern: PathPattern, references: readonly Reference[]): Place {
  const [first, second] = references;
  if (first === undefined) return platform;
  if (pattern[0] === otherPatterns.predefinedRole[0]) return { kind: "shared" };
  if (pattern[0] === "customers") return first.by === "any" ? platform : { kind: "customer", customer: first };
  if (pattern[0] !== "orgs") return platform;
  const project = pattern[1] === "projects" ? second : undefined;
  const depth = project === undefined ? 1 : 2;
  const rest = formatReferences(pattern.slice(depth), references.slice(depth));
  const isMany = references.some(({ by }) => by === "any");
  return { kind: "org", org: first, project, isItself: references.length === depth, isMany, rest };
}
