import type { OrgSnapshot } from "../org-snapshot.ts";

/** The resource of a decision, with what contains it. It may be in another org than the subject. */
export type TargetScope =
  | { readonly kind: "platform" }
  | { readonly kind: "customer"; readonly customerId: string }
  | { readonly kind: "org"; readonly customerId: string; readonly orgId: string }
  | { readonly kind: "project"; readonly customerId: string; readonly orgId: string; readonly projectId: string };

/**
 * Returns the scopes whose bindings apply to the resource, nearest first, without those that have no bindings. Bindings in a
 * project count only while the project is not deleted.
 */
export function scopesOf(snapshot: OrgSnapshot, resource: TargetScope): number[] {
  const { scopes } = snapshot;
  const found = [
    projectScopeOf(snapshot, resource),
    orgScopeOf(snapshot, resource),
    customerScopeOf(snapshot, resource),
    scopes.platform,
  ];
  return found.filter((scope) => scope !== 0 && scopes.cellCountOf(scope) > 0);
}

/** Returns 0 if the resource is in no project, or if no binding in its project counts. */
export function projectScopeOf({ org, scopes, projects }: OrgSnapshot, resource: TargetScope): number {
  if (resource.kind !== "project" || resource.orgId !== org.id) return 0;
  const project = projects.findById(resource.projectId);
  return project !== 0 && projects.isLive(project) ? scopes.findProject(project) : 0;
}

/** Returns 0 if the resource is not in the snapshot's org. */
export function orgScopeOf({ org, scopes }: OrgSnapshot, resource: TargetScope): number {
  const isInside = (resource.kind === "project" || resource.kind === "org") && resource.orgId === org.id;
  return isInside ? scopes.org : 0;
}

/** Returns 0 if nothing is bound on the customer. */
export function customerScopeOf({ scopes }: OrgSnapshot, resource: TargetScope): number {
  return resource.kind === "platform" ? 0 : scopes.findCustomer(resource.customerId);
}
