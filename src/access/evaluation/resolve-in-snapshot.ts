import { formatReferences } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { AnyPath, Reference } from "../../paths/resource-path.ts";
import { type ConditionNames, nameById, nameRest, noPath } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { orgPathIn } from "../snapshots/snapshot-paths.ts";
import { type ResolvedTarget, everywhere, onPlatform, pinned } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** Finds what a snapshot holds; undefined for a customer and for what is in another org. */
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
      return top.by === "any" ? { ...onPlatform, pattern, references } : undefined;
    case otherPatterns.predefinedRole[0]:
      // It is the same in all orgs: what is held on the own org is held there, too.
      return { ...resolveById(snapshot), pattern, references };
    default:
      return { ...onPlatform, pattern, references };
  }
}

/** The snapshot's org, or a project in it. */
export function resolveById(snapshot: OrgSnapshot, projectId?: string): ResolvedTarget {
  const org = { by: "id", value: snapshot.org.id } as const;
  const path: AnyPath =
    projectId === undefined
      ? { pattern: patterns.Org, references: [org] }
      : { pattern: patterns.Project, references: [org, { by: "id", value: projectId }] };
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
  if (asked !== undefined && projectId !== undefined) below[0] = pinned(asked, projectId);
  const ids = { customerId: org.customerId, orgId: org.id };
  const ofProject = project !== 0 && projects.stateOf(project) === "SUSPENDED" ? "project" : undefined;
  return {
    pattern,
    references: [pinned(orgReference, org.id), ...below],
    resource: projectId === undefined ? { kind: "org", ...ids } : { kind: "project", ...ids, projectId },
    suspended: org.state === "SUSPENDED" ? "org" : ofProject,
    isItself: references.length === (asked === undefined ? 1 : 2) && rest === "",
    path: () => {
      const projectName = projectId === undefined ? writtenName(asked) : nameById(projects, projectId);
      return currentPath(names, snapshot, orgPathIn(snapshot), projectName, path);
    },
  };
}

/** Whether a reference names the org that the snapshot is of. */
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

/** The project that a path goes through. */
export function projectIn({ pattern, references }: AnyPath): Reference | undefined {
  return pattern[1] === patterns.Project[1] ? references[1] : undefined;
}

/** What conditions see as the name of a project that is not there: the org decides about it, they see it where it would be. */
export function writtenName(project: Reference | undefined): string | undefined {
  if (project !== undefined && project.by !== "name") throw noPath();
  return project?.value;
}

/**
 * The path of what is in an org with current names.
 *
 * @param snapshot of the org; undefined for one that is not at hand.
 * @param projectName undefined for what is in no project.
 */
export function currentPath(
  names: ConditionNames,
  snapshot: OrgSnapshot | undefined,
  orgPath: string,
  projectName: string | undefined,
  { pattern, references, rest = "" }: TargetPath,
): string {
  if (references.some(({ by }) => by === "any")) throw noPath();
  const [depth, project] = projectName === undefined ? [1, ""] : [2, `/projects/${projectName}`];
  const inside = formatReferences(pattern.slice(depth), references.slice(depth));
  return `${orgPath}${project}${nameRest(names, snapshot, `${inside}${rest}`)}`;
}
