// Decides who may do what, from the snapshot of the subject's org and from where the resource is.
import type { CelInput } from "@bufbuild/cel";
import type { Database } from "../database/database.ts";
import { formatPath, formatReferences, pathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ConditionContext } from "./conditions.ts";
import { decide } from "./engine/decide.ts";
import type { SubjectReference } from "./engine/find-grant.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import type { Resource } from "./engine/resource.ts";
import type { OrgHeads } from "./org-heads.ts";
import type { Place } from "./place.ts";
import { orgPathIn, projectPathIn, subjectPathIn } from "./snapshot-paths.ts";

/** Whoever may lift a suspension has access all the same. */
export const lifting = { org: "iam.orgs.activate", project: "iam.projects.activate" } as const;

/** What a suspended org or project itself can still be asked. */
const readingItself = { org: "iam.orgs.get", project: "iam.projects.get" } as const;

/** A resource, and what of its surroundings is suspended. */
export interface LocatedResource {
  readonly resource: Resource;
  /** With current names, whatever it was asked for by. */
  readonly path: string;
  readonly suspended: "org" | "project" | undefined;
  readonly isItself: boolean;
}

/** Who asks. */
export interface Question {
  readonly subject: SubjectReference;
  /** What conditions may look at as `context`. */
  readonly attributes: Readonly<Record<string, CelInput>>;
  /** By the database's clock, in milliseconds. */
  readonly now: number;
}

export interface Decider {
  /**
   * Finds where a place is, as seen from a snapshot.
   *
   * @returns undefined when it is not there.
   */
  locate(snapshot: OrgSnapshot, place: Place): LocatedResource | undefined | Promise<LocatedResource | undefined>;
  /** Whether the subject, of the snapshot's org, holds the permission there, and no suspension stands in its way. */
  allows(snapshot: OrgSnapshot, question: Question, permission: string, located: LocatedResource): boolean;
  /** The same for a place, which is not looked for where what is granted on the platform decides. */
  allowsAt(snapshot: OrgSnapshot, question: Question, permission: string, place: Place): Promise<boolean>;
}

export const onPlatform: LocatedResource = {
  resource: { kind: "platform" },
  path: "/",
  suspended: undefined,
  isItself: false,
};

export function createDecider(database: Database, heads: OrgHeads): Decider {
  const customers = createPathLookup<{ id: string; name: string; delete_time: Date | null }>(
    database,
    "customer_ids",
    ["customers"],
    database.reads.selectFrom("customers").select(["customers.id", "customers.name", "customers.delete_time"]),
  );

  const locateCustomer = async (reference: Reference): Promise<LocatedResource | undefined> => {
    const customer = await customers([reference]);
    if (customer === undefined) return undefined;
    const path = formatPath(patterns.Customer, pathName(customer));
    return { ...onPlatform, resource: { kind: "customer", customerId: customer.id }, path };
  };

  const projects = createPathLookup<{ id: string; name: string; delete_time: Date | null; state: string }>(
    database,
    "project_states",
    ["orgs", "projects"],
    database.reads
      .selectFrom("orgs")
      .innerJoin("projects", "projects.org_id", "orgs.id")
      .select(["projects.id", "projects.name", "projects.delete_time", "projects.state"]),
  );

  /** Nothing in another org is granted to the snapshot's subjects: what counts is what is granted above it. */
  const locateElsewhere = async (place: Place & { readonly kind: "org" }): Promise<LocatedResource | undefined> => {
    const [head, project] = await Promise.all([
      heads([place.org]),
      place.project === undefined || place.project.by === "any" ? undefined : projects([place.org, place.project]),
    ]);
    if (head === undefined) return undefined;
    const orgName = pathName(head);
    const path =
      project === undefined
        ? `${formatPath(patterns.Org, orgName)}${asWritten(place.project)}`
        : formatPath(patterns.Project, orgName, pathName(project));
    const ofProject = project?.state === "SUSPENDED" ? "project" : undefined;
    return {
      resource: { kind: "org", customerId: head.customer_id, orgId: head.id },
      path: `${path}${place.rest}`,
      suspended: head.state === "SUSPENDED" ? "org" : ofProject,
      isItself: place.isItself,
    };
  };

  const locate: Decider["locate"] = (snapshot, place) => {
    if (place.kind === "platform") return onPlatform;
    if (place.kind === "shared") return locateById(snapshot);
    if (place.kind === "customer") return locateCustomer(place.customer);
    if (place.org.by === "any") return onPlatform;
    return isOrgOf(snapshot, place.org) ? locateInside(snapshot, place) : locateElsewhere(place);
  };

  const allowsAt: Decider["allowsAt"] = async (snapshot, question, permission, place) => {
    const onAll = (wanted: string): boolean => allows(snapshot, question, wanted, onPlatform);
    const isEverywhere = onAll(permission) && (place.kind !== "org" || (onAll(lifting.org) && onAll(lifting.project)));
    if (isEverywhere) return true;
    const located = await locate(snapshot, place);
    return located !== undefined && allows(snapshot, question, permission, located);
  };

  return { locate, allows, allowsAt };
}

const allows: Decider["allows"] = (snapshot, question, permission, located) => {
  const { resource, suspended, isItself } = located;
  const { subject, now } = question;
  const conditionContext = conditionContextOf(snapshot, question, located);
  const holds = (wanted: string): boolean =>
    decide(snapshot, { subject, permission: wanted, resource, now, conditionContext });
  if (!holds(permission)) return false;
  if (suspended === undefined || (isItself && permission === readingItself[suspended])) return true;
  return holds(lifting[suspended]);
};

/** What conditions are asked about; made when there is one. */
export type LazyConditionContext = () => ConditionContext;

export function conditionContextOf(
  snapshot: OrgSnapshot,
  { subject, attributes, now }: Question,
  { resource, path }: LocatedResource,
): LazyConditionContext {
  return () => ({
    request: { time: new Date(now) },
    resource: { path, labels: labelsOf(snapshot, resource) },
    subject: { path: subjectPathIn(snapshot, subject), type: subject.kind },
    context: attributes,
  });
}

/** The labels of the project or org. */
function labelsOf({ labels, org }: OrgSnapshot, resource: Resource): Readonly<Record<string, string>> {
  if (resource.kind === "project") return labels.of(resource.projectId);
  return resource.kind === "org" && resource.orgId === org.id ? labels.of(org.id) : {};
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

/** The snapshot's org, or a project in it. */
export function locateById(snapshot: OrgSnapshot, projectId?: string): LocatedResource {
  const org = { by: "id", value: snapshot.org.id } as const;
  const project = projectId === undefined ? undefined : ({ by: "id", value: projectId } as const);
  return locateInside(snapshot, { kind: "org", org, project, isItself: true, rest: "" });
}

function locateInside(snapshot: OrgSnapshot, place: Place & { readonly kind: "org" }): LocatedResource {
  const { org, projects } = snapshot;
  const { isItself, rest } = place;
  const ids = { customerId: org.customerId, orgId: org.id };
  const ofOrg = org.state === "SUSPENDED" ? "org" : undefined;
  const project = place.project === undefined || place.project.by === "any" ? 0 : projects.find(place.project);
  if (project === 0) {
    // The org decides about a project that is not there; conditions see it where it would be.
    const path = `${orgPathIn(snapshot)}${asWritten(place.project)}${rest}`;
    return { resource: { kind: "org", ...ids }, path, suspended: ofOrg, isItself };
  }
  const projectId = projects.idOf(project);
  return {
    resource: { kind: "project", ...ids, projectId },
    path: `${projectPathIn(snapshot, projectId)}${rest}`,
    suspended: ofOrg ?? (projects.stateOf(project) === "SUSPENDED" ? "project" : undefined),
    isItself,
  };
}

/** What a path has of a project that was not found. */
function asWritten(project: Reference | undefined): string {
  return project === undefined ? "" : formatReferences(patterns.Project.slice(1), [project]);
}
