import { formatPath, formatReferences } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import { type ConditionNames, nameById, nameRest, noPath } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { orgPathIn } from "../snapshots/snapshot-paths.ts";
import {
  type ResolvedTarget,
  type Suspension,
  everywhere,
  onPlatform,
  toIdReference,
  unsuspended,
} from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** Resolves a path from a snapshot; undefined for a customer, a service and what is in it, and a resource in another org. */
export function resolveInSnapshot(
  names: ConditionNames,
  snapshot: OrgSnapshot,
  path: TargetPath,
): ResolvedTarget | undefined {
  const { pattern, references } = path;
  const [top] = references;
  if (top === undefined) return onPlatform;
  switch (pattern[0]) {
    case patterns.Org[0]:
      if (top.by === "any") return { ...everywhere, pattern, references };
      return isOrgOf(snapshot, top) ? resolveInOrg(names, snapshot, path) : undefined;
    case patterns.Customer[0]:
      return top.by === "any" ? { ...everywhere, pattern, references } : undefined;
    case patterns.Service[0]:
      return top.by === "any" ? { ...everywhere, pattern, references } : undefined;
    case otherPatterns.predefinedRole[0]:
      // Predefined roles are the same in all orgs: permissions on the caller's own org apply to them.
      return { ...resolveById(snapshot), pattern, references };
    default:
      return { ...onPlatform, pattern, references };
  }
}

/** Returns the target of the snapshot's org, or of a project in it. */
export function resolveById(snapshot: OrgSnapshot, projectId?: string): ResolvedTarget {
  const org = { by: "id", value: snapshot.org.id } as const;
  const path: AnyPath =
    projectId === undefined
      ? { pattern: patterns.Org, references: [org] }
      : { pattern: patterns.Project, references: [org, { by: "id", value: projectId }] };
  return resolveInOrg(nothingInside, snapshot, path);
}

/** Returns the target of something in the snapshot's org, named by ids down to its project and by name below. */
export function resolveInside(snapshot: OrgSnapshot, path: AnyPath): ResolvedTarget {
  return resolveInOrg(nothingInside, snapshot, path);
}

const nothingInside: ConditionNames = { collections: new Map() };

function resolveInOrg(names: ConditionNames, snapshot: OrgSnapshot, path: TargetPath): ResolvedTarget {
  const { org, projects } = snapshot;
  const { pattern, references, rest = "" } = path;
  const [orgReference, ...below] = references as readonly [Reference, ...Reference[]];
  const asked = projectIn(path);
  const project = asked === undefined || asked.by === "any" ? 0 : projects.find(asked);
  const projectId = project === 0 ? undefined : projects.idOf(project);
  if (asked !== undefined && projectId !== undefined) below[0] = toIdReference(asked, projectId);
  const isItself = references.length === (asked === undefined ? 1 : 2) && rest === "";
  return {
    pattern,
    references: [toIdReference(orgReference, org.id), ...below],
    resource: scopeIn(snapshot, projectId),
    suspensions: suspensionsIn(snapshot, project, { org: isItself && asked === undefined, project: isItself }),
    isItself,
    isInMissingProject: isMissing(asked, projectId),
    path: () => {
      const projectName = projectId === undefined ? writtenName(asked) : nameById(projects, projectId);
      return currentPath(names, snapshot, orgPathIn(snapshot), projectName, path);
    },
    labels: () => snapshot.labels.of(projectId ?? org.id),
  };
}

function scopeIn({ org }: OrgSnapshot, projectId: string | undefined): TargetScope {
  const ids = { customerId: org.customerId, orgId: org.id };
  return projectId === undefined ? { kind: "org", ...ids } : { kind: "project", ...ids, projectId };
}

/**
 * Returns the suspensions of the org and of a project in it.
 *
 * @param project the record of the project; 0 for none.
 * @param isItself whether the target is the org, or the project.
 */
function suspensionsIn(
  snapshot: OrgSnapshot,
  project: number,
  isItself: Readonly<Record<Suspension["kind"], boolean>>,
): readonly Suspension[] {
  const { org, projects, labels } = snapshot;
  const isOrgSuspended = org.state === "SUSPENDED";
  const isProjectSuspended = project !== 0 && projects.isSuspended(project);
  if (!isOrgSuspended && !isProjectSuspended) return unsuspended;
  const suspensions: Suspension[] = [];
  if (isOrgSuspended) {
    suspensions.push({
      kind: "org",
      isItself: isItself.org,
      resource: scopeIn(snapshot, undefined),
      path: () => orgPathIn(snapshot),
      labels: () => labels.of(org.id),
    });
  }
  if (isProjectSuspended) {
    const id = projects.idOf(project);
    suspensions.push({
      kind: "project",
      isItself: isItself.project,
      resource: scopeIn(snapshot, id),
      path: () => formatPath(patterns.Project, org.name, nameById(projects, id)),
      labels: () => labels.of(id),
    });
  }
  return suspensions;
}

export function isOrgOf({ org }: OrgSnapshot, reference: Reference): boolean {
  switch (reference.by) {
    case "id":
      return reference.value === org.id;
    case "name":
      return reference.value === org.name && org.state !== "DELETED";
    case "any":
      return false;
  }
}

export function projectIn({ pattern, references }: AnyPath): Reference | undefined {
  return pattern[1] === patterns.Project[1] ? references[1] : undefined;
}

/** Whether a path names a project, and none is found. */
export function isMissing(asked: Reference | undefined, projectId: string | undefined): boolean {
  return asked !== undefined && asked.by !== "any" && projectId === undefined;
}

/**
 * Returns the name that conditions see for a project that does not exist.
 *
 * @throws Error when the path does not name the project by name.
 */
export function writtenName(project: Reference | undefined): string | undefined {
  if (project !== undefined && project.by !== "name") throw noPath();
  return project?.value;
}

/**
 * Returns the path of a resource in an org or a service, with current names.
 *
 * @param snapshot of the org; undefined if it is not available.
 * @param topPath the path of the org or the service.
 * @param projectName undefined for a resource that is in no project.
 * @throws Error when the resource has no single path with names.
 */
export function currentPath(
  names: ConditionNames,
  snapshot: OrgSnapshot | undefined,
  topPath: string,
  projectName: string | undefined,
  { pattern, references, rest = "" }: TargetPath,
): string {
  if (references.some(({ by }) => by === "any")) throw noPath();
  const [depth, project] = projectName === undefined ? [1, ""] : [2, `/projects/${projectName}`];
  const inside = formatReferences(pattern.slice(depth), references.slice(depth));
  return `${topPath}${project}${nameRest(names, snapshot, `${inside}${rest}`)}`;
}
