import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import { type Decider, type Question, locateById, onPlatform, lifting } from "./decider.ts";
import { explainDenial } from "./explain-denial.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
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

/**
 * Decides whether the caller holds a permission where a resource is. It does not ask whether the resource exists: that is
 * not the business of those who may not see it (AIP-211).
 *
 * @returns what to show, where that is not everything.
 * @throws ServiceError PERMISSION_DENIED
 */
export type Authorise = (caller: Caller, requirement: Requirement, place: Place) => Promise<VisibleOrgs | undefined>;

export function createAuthorise(snapshots: Snapshots, decider: Decider): Authorise {
  return async (caller, { permission, trims }, place) => {
    const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    if (await decider.allowsAt(snapshot, question, permission, place)) return undefined;
    const isOfAnyOrg = place.kind === "org" && place.org.by === "any";
    if (place.kind === "platform" ? trims === "always" : trims !== "never" && isOfAnyOrg) {
      const visible = visibleOrgs(decider, snapshot, question, permission);
      if (visible.orgIds.length + visible.customerIds.length > 0) return visible;
    }
    const denial = explainDenial(decider, snapshot, question, permission, await decider.locate(snapshot, place));
    throw new ServiceError("PERMISSION_DENIED", denial.message, { metadata: denial.metadata });
  };
}

/** Asks on behalf of a caller. */
export function questionOf({ memberId, time }: Caller): Question {
  return { subject: { kind: "member", id: memberId }, now: time, attributes: {} };
}

/** Where the caller holds the permission: its own org, and the customers on which something is granted to it. */
function visibleOrgs(decider: Decider, snapshot: OrgSnapshot, question: Question, permission: string): VisibleOrgs {
  const holds = (wanted: string, customerId: string): boolean =>
    decider.allows(snapshot, question, wanted, { ...onPlatform, resource: { kind: "customer", customerId } });
  const mayLift = (customerId: string): boolean => holds(lifting.org, customerId);
  const customerIds = snapshot.scopes.customerIds().filter((customerId) => holds(permission, customerId));
  // What is in the org is listed, not the org itself.
  const own = { ...locateById(snapshot), isItself: false };
  const orgIds = decider.allows(snapshot, question, permission, own) ? [snapshot.org.id] : [];
  // A suspended org itself is listed; what is in it is for those who can lift that.
  const suspendedOf = permission === listOrgs ? customerIds : customerIds.filter(mayLift);
  return { orgIds, customerIds, suspendedOf };
}
