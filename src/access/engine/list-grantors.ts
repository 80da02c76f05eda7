import { unconditionalRoles } from "./held-roles.ts";
import { listSubjects } from "./list-subjects.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";

/** Whoever has it on a resource can bind roles there. */
const bindPermission = "iam.roleBindings.create";

/** Whoever has it as well can bind roles that hold more than it holds itself. */
const unheldPermission = "iam.roleBindings.grantUnheld";

/** Members with few permissions can bind roles too, and each is a decision: this many are looked at. */
const maxCandidates = 1000;

export interface GrantorsQuestion {
  /** The role to bind, by its record. */
  readonly role: number;
  /** What it is to be bound on. */
  readonly resource: Resource;
  readonly now: number;
  /** What the conditions are asked about under which a member may bind roles. */
  readonly contextOf: (member: number) => unknown;
  readonly limit: number;
}

/** The ids of members who can bind the role there, in their order. */
export function listGrantors(snapshot: OrgSnapshot, question: GrantorsQuestion): string[] {
  const { roles } = snapshot;
  const { role, resource, now, contextOf, limit } = question;
  if (limit <= 0) return [];
  const unheld = roles.permissions.find(unheldPermission);
  const found: string[] = [];
  const candidates = listSubjects(snapshot, {
    permission: bindPermission,
    resource,
    now,
    contextOf,
    limit: maxCandidates,
  });
  for (const id of candidates) {
    // What is held under a condition would be passed on without.
    const held = unconditionalRoles(snapshot, { subject: { kind: "member", id }, resource, now });
    if (!held.some((each) => roles.has(each, unheld)) && !roles.covers(held, role)) continue;
    found.push(id);
    if (found.length === limit) break;
  }
  return found;
}

/**
 * Where something can be bound to a subject of the snapshot's org, so that it has it on the resource: on the resource, or, in
 * another org, on what the two orgs have in common.
 */
export function bindableAt({ org }: OrgSnapshot, resource: Resource): Resource {
  if (resource.kind === "platform" || resource.kind === "customer" || resource.orgId === org.id) return resource;
  return resource.customerId === org.customerId
    ? { kind: "customer", customerId: org.customerId }
    : { kind: "platform" };
}
