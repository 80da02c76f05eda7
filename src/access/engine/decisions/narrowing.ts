import type { TargetScope } from "./target-scope.ts";

/** What a credential allows of what its member holds. A decision needs both, so that it never adds anything. */
export interface Narrowing {
  /** Permissions: `iam.members.get`, `iam.members.*` or `iam.*`; undefined for all. */
  readonly scopes: readonly string[] | undefined;
  /** The only project, with what is in it; undefined for all resources. */
  readonly projectId: string | undefined;
  /** The member that impersonates the one of the credential, and must hold what is asked for as well; undefined for none. */
  readonly impersonatorId?: string | undefined;
}

/** What a narrowing leaves out: the permission, or the resource; or what the impersonator does not hold. */
export type LeftOut = "scope" | "project" | "impersonator";

/** Returns what leaves a permission on a resource out; undefined if nothing does. */
export function findLeftOut(
  { scopes, projectId }: Narrowing,
  permission: string,
  resource: TargetScope,
): Exclude<LeftOut, "impersonator"> | undefined {
  if (scopes !== undefined && !scopes.some((scope) => includes(scope, permission))) return "scope";
  if (projectId === undefined || (resource.kind === "project" && resource.projectId === projectId)) return undefined;
  return "project";
}

/** Reports whether a scope includes a permission, or everything that another scope includes. */
function includes(scope: string, other: string): boolean {
  return scope === other || (scope.endsWith(".*") && other.startsWith(scope.slice(0, -1)));
}

/** Scopes as lists: undefined for all. */
type Scopes = readonly string[] | undefined;

/** Reports whether scopes include nothing that others do not. */
export function areWithin(scopes: Scopes, others: Scopes): boolean {
  if (others === undefined) return true;
  return scopes?.every((scope) => others.some((each) => includes(each, scope))) ?? false;
}

/** Returns what two lists of scopes both include. */
export function intersect(scopes: Scopes, others: Scopes): Scopes {
  if (scopes === undefined || others === undefined) return scopes ?? others;
  const common = scopes.flatMap((scope) => {
    if (others.some((each) => includes(each, scope))) return [scope];
    return others.filter((each) => includes(scope, each));
  });
  return [...new Set(common)];
}
