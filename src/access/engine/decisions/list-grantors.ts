import { unconditionalRoles } from "./effective-roles.ts";
import { listSubjects } from "./list-subjects.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { Steps } from "../../../scheduling/steps.ts";
import type { TargetScope } from "./target-scope.ts";

const bindPermission = "iam.roleBindings.create";

/** The permission that, in addition, allows to bind roles with more permissions than the grantor has. */
const unheldPermission = "iam.roleBindings.grantUnheld";

/** The maximum number of candidates. Members with few permissions can bind roles, too, and each candidate costs a decision. */
const maxCandidates = 1000;

export interface GrantorsQuery {
  /** The record of the role to bind. */
  readonly role: number;
  /** The resource on which it is to be bound. */
  readonly resource: TargetScope;
  readonly now: number;
  /** Returns the input of a member's conditions when it binds a role; of no member, for those that do not read the subject. */
  readonly contextOf: (member: number | undefined) => unknown;
  readonly limit: number;
}

/** Lists the ids of members who can bind the role on the resource, in order. The snapshot must not change between the steps. */
export function* listGrantorsInSteps(snapshot: OrgSnapshot, query: GrantorsQuery): Steps<string[]> {
  const { roles } = snapshot;
  const { role, resource, now, contextOf, limit } = query;
  if (limit <= 0) return [];
  const unheld = roles.permissions.find(unheldPermission);
  const found: string[] = [];
  const { ids, undoubted } = yield* listSubjects(snapshot, {
    permission: bindPermission,
    resource,
    now,
    contextOf,
    limit: maxCandidates,
  });
  // Beyond as many as a page decides about, those who can bind a role without a decision are candidates, and owners can.
  for (const id of [...ids, ...undoubted]) {
    // What is held under a condition would be passed on without it.
    const held = unconditionalRoles(snapshot, { subject: { kind: "member", id }, resource, now, counted: "all" });
    yield;
    if (!held.some((each) => roles.has(each, unheld)) && !roles.covers(held, role)) continue;
    found.push(id);
    if (found.length === limit) break;
  }
  return found;
}

/**
 * Returns where a role can be bound to a subject of the snapshot's org so that it applies to the resource: on the resource or,
 * if it is in another org, on what the two orgs have in common.
 */
export function bindableAt({ org }: OrgSnapshot, resource: TargetScope): TargetScope {
  if (!("orgId" in resource) || resource.orgId === org.id) return resource;
  return resource.customerId === org.customerId
    ? { kind: "customer", customerId: org.customerId }
    : { kind: "platform" };
}
