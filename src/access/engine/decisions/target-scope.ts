import type { OrgSnapshot } from "../org-snapshot.ts";

/**
 * The resource of a decision, with what contains it. It may be in another org than the subject. In a guarded one, what is granted on the platform
 * does not count.
 */
export type TargetScope =
  | ({ readonly kind: "platform" } & Guard)
  | ({ readonly kind: "customer"; readonly customerId: string } & Guard)
  | ({ readonly kind: "service"; readonly serviceId: string } & Guard)
  | ({ readonly kind: "org"; readonly customerId: string; readonly orgId: string } & Guard)
  | ({
      readonly kind: "project";
      readonly customerId: string;
      readonly orgId: string;
      readonly projectId: string;
    } & Guard);

interface Guard {
  readonly isGuarded?: true;
}

/**
 * Returns the scopes whose bindings apply to the resource, nearest first, without those that have no bindings. Bindings in a
 * project count only while the project is not deleted.
 */
export function scopesOf(snapshot: OrgSnapshot, resource: TargetScope): number[] {
  const { scopes } = snapshot;
  const found = [
    projectScopeOf(snapshot, resource),
    orgScopeOf(snapshot, resource),
    outerScopeOf(snapshot, resource),
    platformScopeOf(snapshot, resource),
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

/** Returns a resource on which grants on the platform do not count. */
export function withoutPlatform(resource: TargetScope): TargetScope {
  return resource.kind === "platform" ? resource : { ...resource, isGuarded: true };
}

/** Returns a resource on which grants on the platform count. */
export function withPlatform(resource: TargetScope): TargetScope {
  const { isGuarded: _isGuarded, ...open } = resource;
  return open;
}

/** Returns 0 if what is granted on the platform does not count on the resource. */
export function platformScopeOf({ scopes }: OrgSnapshot, resource: TargetScope): number {
  return "isGuarded" in resource ? 0 : scopes.platform;
}

/** Returns the scope of the customer or service that is or contains the resource; 0 if nothing is bound on it. */
export function outerScopeOf({ scopes }: OrgSnapshot, resource: TargetScope): number {
  switch (resource.kind) {
    case "platform":
      return 0;
    case "service":
      return scopes.findOuter("service", resource.serviceId);
    default:
      return scopes.findOuter("customer", resource.customerId);
  }
}
