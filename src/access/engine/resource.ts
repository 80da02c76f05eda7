import type { OrgSnapshot } from "./org-snapshot.ts";

/** What access is asked for, with what it is in. It may be in another org than the subject. */
export type Resource =
  | { readonly kind: "platform" }
  | { readonly kind: "customer"; readonly customerId: string }
  | { readonly kind: "org"; readonly customerId: string; readonly orgId: string }
  | { readonly kind: "project"; readonly customerId: string; readonly orgId: string; readonly projectId: string };

/**
 * The scopes whose bindings count for the resource, nearest first; without those that have none. What is bound in a
 * project counts only while that is not deleted.
 */
export function scopesOf(snapshot: OrgSnapshot, resource: Resource): number[] {
  const { scopes } = snapshot;
  const found = [
    projectScopeOf(snapshot, resource),
    orgScopeOf(snapshot, resource),
    customerScopeOf(snapshot, resource),
    scopes.platform,
  ];
  return found.filter((scope) => scope !== 0 && scopes.cellCountOf(scope) > 0);
}

/** 0 for what is in no project, or where nothing is bound that counts. */
export function projectScopeOf({ org, scopes, projects }: OrgSnapshot, resource: Resource): number {
  if (resource.kind !== "project" || resource.orgId !== org.id) return 0;
  const project = projects.findById(resource.projectId);
  return project !== 0 && projects.isLive(project) ? scopes.findProject(project) : 0;
}

/** 0 for what is not in the snapshot's org. */
export function orgScopeOf({ org, scopes }: OrgSnapshot, resource: Resource): number {
  const isInside = (resource.kind === "project" || resource.kind === "org") && resource.orgId === org.id;
  return isInside ? scopes.org : 0;
}

/** 0 when nothing is bound there. */
export function customerScopeOf({ scopes }: OrgSnapshot, resource: Resource): number {
  return resource.kind === "platform" ? 0 : scopes.findCustomer(resource.customerId);
}
