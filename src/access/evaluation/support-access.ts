// An org may require that members of the platform, which are those of the org `system`, count there only with an access request that the org has approved.
// What is granted on the platform then counts in the org only for what the platform needs to operate, and as far as the role of such a request
// goes until it ends. Everything else about a decision stays as it is: nobody gets more by a request than it holds anyway.
import { formatReferences } from "../../paths/format-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { ResolvedTarget } from "./resolved-target.ts";
import type { SupportAccess, SupportGrant } from "./support-grants.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";

/**
 * What the platform may do in every org and customer without a request, because it cannot operate otherwise: see that they are there, suspend and
 * end them, decide about quotas, read what is to be paid and, for its services, ask whether a member may do something and whether a token is valid.
 * None of it shows what is in an org. `docs/support-access.md` has the list.
 */
export const operatingPermissions: ReadonlySet<string> = new Set([
  "iam.orgs.get",
  "iam.orgs.list",
  "iam.orgs.suspend",
  "iam.orgs.activate",
  "iam.orgs.delete",
  "iam.orgs.undelete",
  "iam.orgs.purge",
  "iam.customers.get",
  "iam.customers.list",
  "iam.customers.delete",
  "iam.customers.undelete",
  "iam.customers.purge",
  "iam.quotas.get",
  "iam.quotas.update",
  "iam.quotaRequests.get",
  "iam.quotaRequests.list",
  "iam.quotaRequests.approve",
  "iam.quotaRequests.reject",
  "iam.usage.get",
  "iam.access.check",
  "iam.members.introspectTokens",
]);

interface Guarded {
  readonly resource: TargetScope;
  /** Undefined if the org requires no requests. */
  readonly support?: SupportAccess | undefined;
}

/** Returns a resource on which grants on the platform do not count. */
export function withoutPlatform(resource: TargetScope): TargetScope {
  return resource.kind === "platform" || resource.kind === "service" ? resource : { ...resource, isGuarded: true };
}

/** Returns a resource on which grants on the platform count. */
export function withPlatform(resource: TargetScope): TargetScope {
  if (resource.kind === "platform" || resource.kind === "service") return resource;
  const { isGuarded: _isGuarded, ...open } = resource;
  return open;
}

/**
 * Returns the resource on which a permission is decided. It is not guarded if grants on the platform count there: for what the platform needs to
 * operate, and for what an approved request of the subject gives.
 */
export function decidedOn(
  snapshot: OrgSnapshot,
  check: Pick<CheckRequest, "subject" | "now">,
  permission: string,
  { resource, support }: Guarded,
): TargetScope {
  if (support === undefined) return resource;
  return operatingPermissions.has(permission) || findGrant(snapshot, check, permission, support) !== undefined
    ? withPlatform(resource)
    : resource;
}

/** Returns the approved request that gives a permission to a subject; undefined if none does. */
export function findGrant(
  snapshot: OrgSnapshot,
  { subject, now }: Pick<CheckRequest, "subject" | "now">,
  permission: string,
  { grants, projectId }: SupportAccess,
): SupportGrant | undefined {
  if (subject.kind !== "member") return undefined;
  const found = subjectById(snapshot, subject);
  return grants.find(
    (grant) =>
      "id" in found &&
      grant.memberId === found.id &&
      now < grant.expireTime &&
      (grant.projectId === null || grant.projectId === projectId) &&
      holdsPermission(snapshot, grant, permission),
  );
}

function holdsPermission({ roles }: OrgSnapshot, { role, permissions }: SupportGrant, permission: string): boolean {
  if (role === null) return permissions?.includes(permission) === true;
  const predefined = roles.findPredefined(role);
  return predefined !== 0 && roles.has(predefined, roles.permissions.find(permission));
}

/** What is read with an approved request, without which it would be denied. */
export interface SupportRead {
  readonly orgId: string;
  readonly requestId: string;
  readonly path: string;
}

/** Returns what a decision needed an approved request for, which has allowed a permission on a target; undefined for none. */
export function findSupported(
  snapshot: OrgSnapshot,
  check: Pick<CheckRequest, "subject" | "now">,
  permission: string,
  { support, pattern, references }: ResolvedTarget,
): SupportRead | undefined {
  if (support === undefined || operatingPermissions.has(permission)) return undefined;
  const grant = findGrant(snapshot, check, permission, support);
  if (grant === undefined || support.orgId === null) return undefined;
  return { orgId: support.orgId, requestId: grant.requestId, path: formatReferences(pattern, references) };
}

/** Returns a target in another org than the subject's with what that org has approved, if it has to approve anything. */
export function withSupport(
  target: ResolvedTarget,
  ofOrg: SupportAccess | undefined,
  projectId: string | null,
): ResolvedTarget {
  if (ofOrg === undefined) return target;
  const [resource, support] = [withoutPlatform(target.resource), { ...ofOrg, projectId }];
  const suspensions = target.suspensions.map((each) => ({
    ...each,
    resource: withoutPlatform(each.resource),
    support,
  }));
  return { ...target, resource, support, suspensions };
}

/** Returns a target as it would be if its org had approved everything. */
export function ifApproved(target: ResolvedTarget): ResolvedTarget {
  const open = { resource: withPlatform(target.resource), support: undefined };
  const suspensions = target.suspensions.map((each) => ({
    ...each,
    resource: withPlatform(each.resource),
    support: undefined,
  }));
  return { ...target, ...open, suspensions };
}
