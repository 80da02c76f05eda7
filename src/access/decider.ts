// Decides who may do what, from the snapshot of the subject's org and from where the resource is.
import type { CelInput } from "@bufbuild/cel";
import type { Database } from "../database/database.ts";
import { formatPath, formatReferences, pathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { type ConditionNames, nameRest, noPath } from "./condition-path.ts";
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
  /**
   * Answers its path, with current names, whatever it was asked for by; few decisions look at it. Throws where there are several
   * or none, for which conditions hold nothing.
   */
  readonly path: () => string;
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
  /**
   * The same for a place, which is not looked for where what is granted on the platform decides. Only for a place outside of
   * the snapshot's org there can be something to wait for.
   */
  allowsAt(snapshot: OrgSnapshot, question: Question, permission: string, place: Place): boolean | Promise<boolean>;
  /** The same; answers where it is allowed, or undefined where it is not. */
  grantedAt(
    snapshot: OrgSnapshot,
    question: Question,
    permission: string,
    place: Place,
  ): Granted | undefined | Promise<Granted | undefined>;
}

/** Where something is allowed: at the place, as it was found, or at all of its kind. */
type Granted = LocatedResource | "everywhere";

export const onPlatform: LocatedResource = {
  resource: { kind: "platform" },
  path: () => "/",
  suspended: undefined,
  isItself: false,
};

/** All there is in something: what is granted under a condition counts only where it is known to hold. */
export function everywhereIn(resource: Resource): LocatedResource {
  return {
    ...onPlatform,
    resource,
    path() {
      throw noPath();
    },
  };
}

export const everywhere = everywhereIn(onPlatform.resource);

export function createDecider(database: Database, heads: OrgHeads, names: ConditionNames): Decider {
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
    return { ...onPlatform, resource: { kind: "customer", customerId: customer.id }, path: () => path };
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
    const ofProject = project?.state === "SUSPENDED" ? "project" : undefined;
    return {
      resource: { kind: "org", customerId: head.customer_id, orgId: head.id },
      path() {
        if (place.isMany || head.delete_time !== null || (project?.delete_time ?? null) !== null) throw noPath();
        const path =
          project === undefined
            ? `${formatPath(patterns.Org, head.name)}${asWritten(place.project)}`
            : formatPath(patterns.Project, head.name, project.name);
        return `${path}${nameRest(names, undefined, place.rest)}`;
      },
      suspended: head.state === "SUSPENDED" ? "org" : ofProject,
      isItself: place.isItself,
    };
  };

  const locateAway = (place: AwayPlace): Promise<LocatedResource | undefined> =>
    place.kind === "customer" ? locateCustomer(place.customer) : locateElsewhere(place);

  const locate: Decider["locate"] = (snapshot, place) =>
    isAway(snapshot, place) ? locateAway(place) : locateHere(names, snapshot, place);

  const grantedAway = async (
    snapshot: OrgSnapshot,
    question: Question,
    permission: string,
    place: AwayPlace,
  ): Promise<Granted | undefined> => {
    // Records are good only until the snapshot is moved forward, which may be meanwhile.
    const subject = byId(snapshot, question.subject);
    const located = await locateAway(place);
    const isAllowed = located !== undefined && allows(snapshot, { ...question, subject }, permission, located);
    return isAllowed ? located : undefined;
  };

  const grantedAt: Decider["grantedAt"] = (snapshot, question, permission, place) => {
    if (isAway(snapshot, place)) {
      return holdsEverywhere(snapshot, question, permission, place.kind)
        ? "everywhere"
        : grantedAway(snapshot, question, permission, place);
    }
    // Where nothing has to be waited for, what is nearest is looked at first.
    const located = locateHere(names, snapshot, place);
    if (allows(snapshot, question, permission, located)) return located;
    return holdsEverywhere(snapshot, question, permission, place.kind) ? "everywhere" : undefined;
  };

  const allowsAt: Decider["allowsAt"] = (...asked) => {
    const granted = grantedAt(...asked);
    return granted instanceof Promise ? granted.then(isGranted) : isGranted(granted);
  };

  return { locate, allows, allowsAt, grantedAt };
}

function isGranted(granted: Granted | undefined): boolean {
  return granted !== undefined;
}

/** Whether what is granted on the platform is enough for all places of a kind, be they there, suspended or neither. */
export function holdsEverywhere(
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  kind: Place["kind"],
): boolean {
  const { scopes } = snapshot;
  if (scopes.cellCountOf(scopes.platform) === 0) return false;
  const onAll = (wanted: string): boolean => allows(snapshot, question, wanted, everywhere);
  return onAll(permission) && (kind !== "org" || (onAll(lifting.org) && onAll(lifting.project)));
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
  located: LocatedResource,
): LazyConditionContext {
  return () => ({
    request: { time: new Date(now) },
    resource: { path: located.path(), labels: labelsOf(snapshot, located.resource) },
    subject: { path: subjectPathIn(snapshot, subject), type: subject.kind },
    context: attributes,
  });
}

/** The labels of the project or org. */
function labelsOf({ labels, org }: OrgSnapshot, resource: Resource): Readonly<Record<string, string>> {
  if (resource.kind === "project") return labels.of(resource.projectId);
  return resource.kind === "org" && resource.orgId === org.id ? labels.of(org.id) : {};
}

/** The subject as it is known however the snapshot changes. */
export function byId({ members, groups }: OrgSnapshot, subject: SubjectReference): SubjectReference {
  if ("id" in subject) return subject;
  const { kind, record } = subject;
  return { kind, id: (kind === "member" ? members : groups).idOf(record) };
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

/** A place that the snapshot does not hold. */
type AwayPlace = Extract<Place, { readonly kind: "org" | "customer" }>;

function isAway(snapshot: OrgSnapshot, place: Place): place is AwayPlace {
  if (place.kind === "org") return place.org.by !== "any" && !isOrgOf(snapshot, place.org);
  return place.kind === "customer";
}

function locateHere(names: ConditionNames, snapshot: OrgSnapshot, place: Place): LocatedResource {
  if (place.kind === "shared") return locateById(snapshot);
  if (place.kind !== "org") return onPlatform;
  return place.org.by === "any" ? everywhere : locateInside(names, snapshot, place);
}

/** The snapshot's org, or a project in it. */
export function locateById(snapshot: OrgSnapshot, projectId?: string): LocatedResource {
  const org = { by: "id", value: snapshot.org.id } as const;
  const project = projectId === undefined ? undefined : ({ by: "id", value: projectId } as const);
  const nothingInIt = { collections: new Map() };
  return locateInside(nothingInIt, snapshot, { kind: "org", org, project, isItself: true, isMany: false, rest: "" });
}

function locateInside(
  names: ConditionNames,
  snapshot: OrgSnapshot,
  place: Place & { readonly kind: "org" },
): LocatedResource {
  const { org, projects } = snapshot;
  const { isItself, isMany, rest } = place;
  const ids = { customerId: org.customerId, orgId: org.id };
  const ofOrg = org.state === "SUSPENDED" ? "org" : undefined;
  const project = place.project === undefined || place.project.by === "any" ? 0 : projects.find(place.project);
  if (project === 0) {
    return {
      resource: { kind: "org", ...ids },
      suspended: ofOrg,
      isItself,
      // The org decides about a project that is not there; conditions see it where it would be.
      path() {
        if (isMany || place.project?.by === "id") throw noPath();
        return `${orgPathIn(snapshot)}${asWritten(place.project)}${nameRest(names, snapshot, rest)}`;
      },
    };
  }
  const projectId = projects.idOf(project);
  return {
    resource: { kind: "project", ...ids, projectId },
    suspended: ofOrg ?? (projects.stateOf(project) === "SUSPENDED" ? "project" : undefined),
    isItself,
    path() {
      if (isMany || !projects.isLive(project)) throw noPath();
      return `${projectPathIn(snapshot, projectId)}${nameRest(names, snapshot, rest)}`;
    },
  };
}

/** What a path has of a project that was not found. */
function asWritten(project: Reference | undefined): string {
  return project === undefined ? "" : formatReferences(patterns.Project.slice(1), [project]);
}
