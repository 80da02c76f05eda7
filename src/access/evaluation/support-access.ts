// An org may require that members of the platform, which are those of the org `system`, count there only with an access request that the org has
// approved. That holds in all orgs of its customer and on the customer, because they share what is granted on the customer: a member of one org may hold
// everything in another. What is granted on the platform then counts there only for what the platform needs to operate, and as far as the role of
// such a request goes until it ends. Everything else about a decision stays as it is: nobody gets more by a request than it holds anyway.
import { formatReferences } from "../../paths/format-path.ts";
import { type PathPattern, patterns } from "../../paths/patterns.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { type TargetScope, withPlatform, withoutPlatform } from "../engine/decisions/target-scope.ts";
import type { ResolvedTarget } from "./resolved-target.ts";
import type { SupportAccess, SupportGrant } from "./support-grants.ts";
import { isApprovable, isOperating } from "./support-permissions.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";

interface Guarded {
  readonly resource: TargetScope;
  /** Undefined if the customer requires no approval, and for subjects that are not of the platform. */
  readonly support?: SupportAccess | undefined;
}

/** Returns where a decision is made with what was approved there; the resource as it is if nothing has to be. */
export function guardedBy(resource: TargetScope, support: SupportAccess | undefined): Guarded {
  return support === undefined ? { resource } : { resource: withoutPlatform(resource), support };
}

/** Whether a path leads to an org or a customer, or to what is in it and in no project. */
export const isOnWhole = (pattern: PathPattern): boolean => pattern[1] !== patterns.Project[1];

/**
 * Returns the resource on which a permission is decided. It is not guarded if grants on the platform count there: for what the platform needs to
 * operate, and for what an approved request of the subject gives.
 */
export function decidedOn(
  snapshot: OrgSnapshot,
  check: Pick<CheckRequest, "subject" | "now" | "withoutApprovals">,
  permission: string,
  { resource, support }: Guarded,
): TargetScope {
  if (support === undefined) return resource;
  const counts =
    isOperating(permission, support.isWhole) || findSupportGrant(snapshot, check, permission, support) !== undefined;
  return counts ? withPlatform(resource) : resource;
}

/** Returns the approved request that gives a permission to a subject; undefined if none does. */
function findSupportGrant(
  snapshot: OrgSnapshot,
  { subject, now, withoutApprovals }: Pick<CheckRequest, "subject" | "now" | "withoutApprovals">,
  permission: string,
  { grants }: SupportAccess,
): SupportGrant | undefined {
  if (withoutApprovals === true || subject.kind !== "member" || !isApprovable(permission)) return undefined;
  const found = subjectById(snapshot, subject);
  return grants.find(
    (grant) =>
      "id" in found &&
      grant.memberId === found.id &&
      now < grant.expireTime &&
      holdsPermission(snapshot, grant, permission),
  );
}

function holdsPermission({ roles }: OrgSnapshot, { role }: SupportGrant, permission: string): boolean {
  const predefined = roles.findPredefined(role);
  return predefined !== 0 && roles.has(predefined, roles.permissions.find(permission));
}

/** What is done with an approved request, without which it would be denied. */
export interface SupportRead {
  readonly orgId: string;
  readonly requestId: string;
  readonly path: string;
}

/** Returns what a decision needed an approved request for, which has allowed a permission on a target; undefined for none. */
export function findSupported(
  snapshot: OrgSnapshot,
  check: Pick<CheckRequest, "subject" | "now" | "withoutApprovals">,
  permission: string,
  { support, pattern, references }: ResolvedTarget,
): SupportRead | undefined {
  if (support === undefined || support.orgId === null || isOperating(permission, support.isWhole)) return undefined;
  const grant = findSupportGrant(snapshot, check, permission, support);
  if (grant === undefined) return undefined;
  return { orgId: support.orgId, requestId: grant.requestId, path: formatReferences(pattern, references) };
}

/** Returns a target in another org than the subject's with what that org has approved, if it has to approve anything. */
export function withSupport(target: ResolvedTarget, ofOrg: SupportAccess | undefined): ResolvedTarget {
  if (ofOrg === undefined) return target;
  const support = { ...ofOrg, isWhole: target.resource.kind !== "project" };
  const suspensions = target.suspensions.map((each) => ({ ...each, ...guardedBy(each.resource, support) }));
  return { ...target, ...guardedBy(target.resource, support), suspensions };
}

/** Returns a target as it would be if nothing had to be approved. */
export function ifApproved(target: ResolvedTarget): ResolvedTarget {
  const open = { resource: withPlatform(target.resource), support: undefined };
  const suspensions = target.suspensions.map((each) => ({
    ...each,
    resource: withPlatform(each.resource),
    support: undefined,
  }));
  return { ...target, ...open, suspensions };
}
