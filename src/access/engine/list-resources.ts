import { decide } from "./decide.ts";
import { type SubjectReference, activeSubject, findGrant } from "./find-grant.ts";
import { type IdPage, type PageOptions, createIdPage } from "./id-page.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";
import type { Subject } from "./subject.ts";

export interface ResourcesQuestion extends PageOptions {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly kind: "project" | "org";
  /** By the database's clock, in milliseconds. */
  readonly now: number;
  /** What conditions are asked about for a resource of the snapshot's org. */
  readonly contextOf: (resource: Resource) => unknown;
}

/** The ids of the org's projects, or of the org itself, for which `decide` says yes, in the order of ids. */
export function listResources(snapshot: OrgSnapshot, question: ResourcesQuestion): string[] {
  return question.kind === "org" ? listOrg(snapshot, question) : listProjects(snapshot, question);
}

function listOrg(snapshot: OrgSnapshot, question: ResourcesQuestion): string[] {
  const { org } = snapshot;
  const resource = orgResource(snapshot);
  if (question.limit <= 0 || (question.after !== undefined && org.id <= question.after)) return [];
  return decide(snapshot, { ...question, resource, conditionContext: question.contextOf(resource) }) ? [org.id] : [];
}

function listProjects(snapshot: OrgSnapshot, question: ResourcesQuestion): string[] {
  const subject = activeSubject(snapshot, question.subject);
  if (subject === undefined) return [];
  const { bindings, projects, roles } = snapshot;
  const permission = roles.permissions.find(question.permission);
  const page = createIdPage(projects, question);
  const holds = (binding: number, project: number): boolean =>
    !bindings.isConditional(binding) ||
    bindings.conditionHolds(binding, question.contextOf(projectResource(snapshot, project)));

  // What is inherited counts for all projects, but its conditions are asked for each of them.
  const inherited: number[] = [];
  findGrant(snapshot, subject, orgResource(snapshot), question.now, (binding) => {
    if (roles.has(bindings.roleOf(binding), permission)) inherited.push(binding);
    return false;
  });
  if (inherited.length > 0) {
    const unconditional = inherited.some((binding) => !bindings.isConditional(binding));
    offerAll(snapshot, page, (project) => unconditional || inherited.some((binding) => holds(binding, project)));
    if (unconditional) return page.ids();
  }
  for (const [project, binding] of boundProjects(snapshot, subject, question.now)) {
    if (!roles.has(bindings.roleOf(binding), permission)) continue;
    if (page.wants(project) && holds(binding, project)) page.add(project);
  }
  return page.ids();
}

function offerAll({ projects }: OrgSnapshot, page: IdPage, accept: (project: number) => boolean): void {
  for (let project = 1; project < projects.records.end(); project++) {
    if (projects.isLive(project) && page.wants(project) && accept(project)) page.add(project);
  }
}

/** The projects where the subject, or a group that it is in, is bound now, each with a binding. */
function* boundProjects(snapshot: OrgSnapshot, subject: Subject, now: number): Iterable<[number, number]> {
  const { bindings, projects, reach, scopes } = snapshot;
  const subjects = Array.from({ length: reach.collect(subject, now) }, (_, index) => reach.at(index));
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

function orgResource({ org }: OrgSnapshot): Resource {
  return { kind: "org", customerId: org.customerId, orgId: org.id };
}

function projectResource({ org, projects }: OrgSnapshot, project: number): Resource {
  return { kind: "project", customerId: org.customerId, orgId: org.id, projectId: projects.idOf(project) };
}
