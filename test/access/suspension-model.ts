// A model of who may do what while orgs and projects are suspended, written from docs/roles.md and not from the code: "Where a role
// counts" and "When access is denied". It has no groups, times or narrowed credentials, which have models of their own.

/** A resource with what contains it. A path without a resource is like one with it, unless it has a project that does not exist. */
export interface ModelResource {
  readonly kind: "platform" | "customer" | "org" | "project" | "missing project" | "content";
  readonly path: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly parent: ModelResource | undefined;
  isSuspended: boolean;
}

/** What a condition reads of the resource that is asked about. */
export type ModelCondition = (resource: Pick<ModelResource, "path" | "labels">) => boolean;

interface ModelBinding {
  readonly on: ModelResource;
  readonly permissions: readonly string[];
  /** Undefined if the role binding has no condition. */
  readonly condition: ModelCondition | undefined;
}

export interface ModelMember {
  readonly org: ModelResource;
  readonly bindings: readonly ModelBinding[];
}

/** "Only callers who can lift the suspension have access." */
const lifting: Partial<Record<ModelResource["kind"], string>> = {
  org: "iam.orgs.activate",
  project: "iam.projects.activate",
};

/** "The suspended org or project itself can still be read." */
const reading: Partial<Record<ModelResource["kind"], string>> = { org: "iam.orgs.get", project: "iam.projects.get" };

/** Returns a resource and everything that contains it. */
function chainOf(resource: ModelResource): ModelResource[] {
  return [resource, ...(resource.parent === undefined ? [] : chainOf(resource.parent))];
}

/** "It counts there and on everything below", and "in a project that does not exist, only role bindings on the platform without a condition". */
function countedOn(resource: ModelResource): ModelResource[] {
  return resource.kind === "missing project" ? chainOf(resource).slice(-1) : chainOf(resource);
}

/** Reports whether a member has a role there. Conditions see the resource on which the permission is required. */
function holds(member: ModelMember, permission: string, resource: ModelResource): boolean {
  return member.bindings.some(
    ({ on, permissions, condition }) =>
      countedOn(resource).includes(on) &&
      permissions.includes(permission) &&
      (condition === undefined || (resource.kind !== "missing project" && condition(resource))),
  );
}

/** Reports whether a member may do something on a resource that a path names. Every suspension denies by itself. */
export function mayDo(member: ModelMember, permission: string, resource: ModelResource): boolean {
  return (
    holds(member, permission, resource) &&
    chainOf(resource).every(
      (each) =>
        !each.isSuspended ||
        (each === resource && permission === reading[each.kind]) ||
        holds(member, lifting[each.kind] ?? "", each),
    )
  );
}

/** "Role bindings with a condition on `resource.path` do not count for this, because `-` has no path." */
function holdsWithoutPath(member: ModelMember, permission: string, resource: ModelResource): boolean {
  const bindings = member.bindings.filter(({ condition }) => condition === undefined);
  return holds({ ...member, bindings }, permission, resource);
}

/** "On the platform, on the customer of the org or on the caller's own org", which are what contains the org, or is the own one. */
function holdsAbove(member: ModelMember, permission: string, org: ModelResource): boolean {
  return chainOf(org)
    .filter((each) => each !== org || org === member.org)
    .some((each) => holdsWithoutPath(member, permission, each));
}

/** The reads of a collection. Both are permissions on the role bindings of a project. */
type Read = "list" | "get";

const permissionTo = (read: Read): string => `iam.roleBindings.${read}`;

/**
 * Reports whether a member sees a role binding of a project through `orgs/-/projects/-`. "A list with `-` for the org returns the
 * resources of the orgs on which the caller holds the permission"; a Get requires it on the platform.
 */
export function seesThroughAllOrgs(
  member: ModelMember,
  read: Read,
  project: ModelResource,
  org: ModelResource,
): boolean {
  const permission = permissionTo(read);
  const [platform] = chainOf(org).slice(-1) as [ModelResource];
  const isReader =
    holdsWithoutPath(member, permission, platform) ||
    (read === "list" &&
      (holdsAbove(member, permission, org) || (org === member.org && holds(member, permission, org))));
  return (
    isReader &&
    (!org.isSuspended || holdsAbove(member, "iam.orgs.activate", org)) &&
    (!project.isSuspended || holdsAbove(member, "iam.projects.activate", org))
  );
}

/** Reports whether a member sees a role binding of a project through `orgs/{org}/projects/-`, which names the org. */
export function seesThroughAllProjects(
  member: ModelMember,
  read: Read,
  project: ModelResource,
  org: ModelResource,
): boolean {
  return (
    holdsWithoutPath(member, permissionTo(read), org) &&
    (!org.isSuspended || holds(member, "iam.orgs.activate", org)) &&
    (!project.isSuspended || holdsWithoutPath(member, "iam.projects.activate", org))
  );
}
