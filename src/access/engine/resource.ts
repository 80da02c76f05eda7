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
export function scopesOf({ org, scopes, projects }: OrgSnapshot, resource: Resource): number[] {
  const found: number[] = [];
  const add = (scope: number): void => {
    if (scope !== 0 && scopes.cellCountOf(scope) > 0) found.push(scope);
  };
  if (resource.kind === "project" && resource.orgId === org.id) {
    const project = projects.findById(resource.projectId);
    if (project !== 0 && projects.isLive(project)) add(scopes.findProject(project));
  }
  if (resource.kind !== "platform") {
    if (resource.kind !== "customer" && resource.orgId === org.id) add(scopes.org);
    add(scopes.findCustomer(resource.customerId));
  }
  add(scopes.platform);
  return found;
}
