import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import { type Decider, type Question, everywhereIn, holdsEverywhere, locateById, lifting } from "./decider.ts";
import { explainDenial } from "./explain-denial.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import type { Resource } from "./engine/resource.ts";
import type { Place } from "./place.ts";
import type { Snapshots } from "./snapshots.ts";

/** What of all orgs a caller may list: these, and those of these customers. */
export interface VisibleOrgs {
  readonly orgIds: readonly string[];
  readonly customerIds: readonly string[];
  /** Those of these customers whose suspended orgs are shown, too. */
  readonly suspendedOf: readonly string[];
}

export type Trims = "never" | "any org" | "always";

const listOrgs = "iam.orgs.list";

/** What a method asks for. */
interface Requirement {
  readonly permission: string;
  /**
   * Which of its calls list what is in all orgs: those with `-` for the org, or all. A caller who may not do that is shown
   * what is in the orgs where it may.
   */
  readonly trims: Trims;
}

interface Authorisation {
  /** What to show, where that is not everything. */
  readonly visible?: VisibleOrgs;
  /** What the caller holds the permission on; undefined where it does so on all of the kind. */
  readonly resource?: Resource;
}

export interface Authorise {
  /**
   * Decides whether the caller holds a permission where a resource is. It does not ask whether the resource exists: that is
   * not the business of those who may not see it (AIP-211).
   *
   * @throws ServiceError PERMISSION_DENIED
   */
  (caller: Caller, requirement: Requirement, place: Place): Promise<Authorisation>;
  /** The same for several places, in all of which the caller must hold it. */
  readonly all: (caller: Caller, permission: string, places: readonly Place[]) => Promise<void>;
}

export function createAuthorise(snapshots: Snapshots, decider: Decider): Authorise {
  const deny = async (snapshot: OrgSnapshot, question: Question, permission: string, place: Place): Promise<never> => {
    const denial = explainDenial(decider, snapshot, question, permission, await decider.locate(snapshot, place));
    throw new ServiceError("PERMISSION_DENIED", denial.message, { metadata: denial.metadata });
  };

  const authorise = async (
    caller: Caller,
    { permission, trims }: Requirement,
    place: Place,
  ): Promise<Authorisation> => {
    const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    const granted = await decider.grantedAt(snapshot, question, permission, place);
    if (granted !== undefined) return granted === "everywhere" ? {} : { resource: granted.resource };
    const isOfAnyOrg = place.kind === "org" && place.org.by === "any";
    if (place.kind === "platform" ? trims === "always" : trims !== "never" && isOfAnyOrg) {
      const visible = visibleOrgs(decider, snapshot, question, permission);
      if (visible.orgIds.length + visible.customerIds.length > 0) return { visible };
    }
    return deny(snapshot, question, permission, place);
  };

  const all: Authorise["all"] = async (caller, permission, places) => {
    const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    if (holdsEverywhere(snapshot, question, permission, "org")) return;
    for (const place of places) {
      const allowed = decider.allowsAt(snapshot, question, permission, place);
      if (allowed !== true && !(await allowed)) await deny(snapshot, question, permission, place);
    }
  };

  return Object.assign(authorise, { all });
}

/** Asks on behalf of a caller. */
export function questionOf({ memberId, time }: Caller): Question {
  return { subject: { kind: "member", id: memberId }, now: time, attributes: {} };
}

/** Where the caller holds the permission: its own org, and the customers on which something is granted to it. */
function visibleOrgs(decider: Decider, snapshot: OrgSnapshot, question: Question, permission: string): VisibleOrgs {
  const holds = (wanted: string, customerId: string): boolean =>
    decider.allows(snapshot, question, wanted, everywhereIn({ kind: "customer", customerId }));
  const mayLift = (customerId: string): boolean => holds(lifting.org, customerId);
  const customerIds = snapshot.scopes.customerIds().filter((customerId) => holds(permission, customerId));
  // What is in the org is listed, not the org itself.
  const own = { ...locateById(snapshot), isItself: false };
  const orgIds = decider.allows(snapshot, question, permission, own) ? [snapshot.org.id] : [];
  // A suspended org itself is listed; what is in it is for those who can lift that.
  const suspendedOf = permission === listOrgs ? customerIds : customerIds.filter(mayLift);
  return { orgIds, customerIds, suspendedOf };
}
