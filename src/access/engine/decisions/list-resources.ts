import { type CountedBindings, isCounted } from "./counted-bindings.ts";
import { decide } from "./decide.ts";
import { type SubjectReference, activeSubject, findGrant } from "./find-grant.ts";
import { type IdPage, type PageOptions, createIdPage } from "./id-page.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type Steps, createStepCounter } from "../../../scheduling/steps.ts";
import type { TargetScope } from "./target-scope.ts";
import type { Subject } from "../tables/subject.ts";

export interface ResourcesQuery extends PageOptions {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly kind: "project" | "org";
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** Returns the input of conditions for a resource of the snapshot's org. */
  readonly contextOf: (resource: TargetScope) => unknown;
  readonly counted: CountedBindings;
}

/**
 * Returns the ids of the org's projects, or of the org itself, for which `decide` returns true, in order. The snapshot must not change
 * between the steps.
 */
export function* listResources(snapshot: OrgSnapshot, query: ResourcesQuery): Steps<string[]> {
  return query.kind === "org" ? listOrg(snapshot, query) : yield* listProjects(snapshot, query);
}

function listOrg(snapshot: OrgSnapshot, query: ResourcesQuery): string[] {
  const { org } = snapshot;
  const resource = orgResource(snapshot);
  if (query.limit <= 0 || (query.after !== undefined && org.id <= query.after)) return [];
  return decide(snapshot, { ...query, resource, conditionContext: query.contextOf(resource) }) ? [org.id] : [];
}

function* listProjects(snapshot: OrgSnapshot, query: ResourcesQuery): Steps<string[]> {
  const subject = activeSubject(snapshot, query.subject);
  if (subject === undefined) return [];
  const { bindings, projects, roles } = snapshot;
  const permission = roles.permissions.find(query.permission);
  const page = createIdPage(projects, query);
  const grants = (binding: number): boolean =>
    roles.has(bindings.roleOf(binding), permission) && isCounted(snapshot, query.counted, binding);
  const holds = (binding: number, project: number): boolean =>
    !bindings.isConditional(binding) ||
    bindings.conditionHolds(binding, query.contextOf(projectResource(snapshot, project)));

  // Inherited bindings apply to all projects, but their conditions are evaluated for each project.
  const inherited: number[] = [];
  findGrant(snapshot, subject, orgResource(snapshot), query.now, (binding) => {
    if (grants(binding)) inherited.push(binding);
    return false;
  });
  if (inherited.length > 0) {
    const unconditional = inherited.some((binding) => !bindings.isConditional(binding));
    yield* offerAll(snapshot, page, (project) => unconditional || inherited.some((binding) => holds(binding, project)));
    if (unconditional) return page.ids();
  }
  const isStepOver = createStepCounter();
  for (const [project, binding] of boundProjects(snapshot, subject, query.now)) {
    if (isStepOver()) yield;
    if (!grants(binding)) continue;
    if (page.wants(project) && holds(binding, project)) page.add(project);
  }
  return page.ids();
}

/** Offers the projects for which a function returns true to a page. */
export function* offerAll({ projects }: OrgSnapshot, page: IdPage, accept: (project: number) => boolean): Steps<void> {
  const isStepOver = createStepCounter();
  for (let project = 1; project < projects.records.end(); project++) {
    if (projects.isLive(project) && page.wants(project) && accept(project)) page.add(project);
    if (isStepOver()) yield;
  }
}

/** Yields the projects where the subject, or a group that it is in, is bound now, each with a binding. */
function* boundProjects(snapshot: OrgSnapshot, subject: Subject, now: number): Iterable<[number, number]> {
  const { bindings, projects, effectiveGroups, scopes } = snapshot;
  const subjects = Array.from({ length: effectiveGroups.collect(subject, now) }, (_, index) =>
    effectiveGroups.at(index),
  );
  for (const bound of subjects) {
    for (let cell = bindings.firstCellOfSubject(bound); cell !== 0; cell = bindings.nextOfSubject(cell)) {
      const project = scopes.projectOf(bindings.scopeOf(cell));
      if (project === 0 || !projects.isLive(project)) continue;
      for (let binding = bindings.firstOfCell(cell); binding !== 0; binding = bindings.nextOfCell(binding)) {
        if (bindings.holdsAt(binding, now)) yield [project, binding];
      }
    }
  }
}

function orgResource({ org }: OrgSnapshot): TargetScope {
  return { kind: "org", customerId: org.customerId, orgId: org.id };
}

function projectResource({ org, projects }: OrgSnapshot, project: number): TargetScope {
  return { kind: "project", customerId: org.customerId, orgId: org.id, projectId: projects.idOf(project) };
}
