import { type LeftOut, findLeftOut } from "../engine/decisions/narrowing.ts";
import type { Steps } from "../../scheduling/steps.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { memberPathIn, orgPathIn, rolePathIn } from "../snapshots/snapshot-paths.ts";
import { allows, findDenying } from "./allows.ts";
import { explainTarget } from "./explain-target.ts";
import type { CheckRequest } from "./check-request.ts";
import { type ResolvedTarget, unsuspended } from "./resolved-target.ts";
import { seesOwnOrg } from "./sees-own-org.ts";
import { ifApproved } from "./support-access.ts";
import { isApprovable } from "./support-permissions.ts";

const explainPermission = "iam.access.explain";

const maxGrantors = 3;

interface Denial {
  readonly message: string;
  readonly metadata: Record<string, string>;
}

/**
 * Explains why a caller is denied: names the permission that it lacks and, if the caller may see who holds what on the
 * resource, the smallest role with that permission and the members of its own org who can grant it. Other callers learn nothing
 * more, not even whether the resource exists.
 */
export function* explainDenial(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget | undefined,
): Steps<Denial> {
  const leftOut = findNarrowed(snapshot, check, permission, target);
  if (leftOut !== undefined) return narrowed(permission, leftOut);
  const toApprove = findUnapproved(snapshot, check, permission, target);
  if (toApprove !== undefined) return toApprove;
  const denial = yield* explainMissing(snapshot, check, permission, target);
  const { message } = denial;
  const metadata = { ...denial.metadata, ...howToAsk(snapshot, check, target) };
  if (check.counted === "all") return { message, metadata };
  return { message: `${message}; ${aboutLimited}`, metadata: { ...metadata, limited: "true" } };
}

/** Says where the caller asks for access in its own org, also to what it may not see: whether that exists decides nothing here. */
function howToAsk(
  snapshot: OrgSnapshot,
  { subject, narrowing }: CheckRequest,
  target: ResolvedTarget | undefined,
): Readonly<Record<string, string>> {
  const resource = target?.resource;
  const isInside = (resource?.kind === "org" || resource?.kind === "project") && resource.orgId === snapshot.org.id;
  if (!isInside || subject.kind !== "member" || narrowing !== undefined || snapshot.org.state !== "ACTIVE") return {};
  return { access_requests: `${orgPathIn(snapshot)}/accessRequests` };
}

/** Tells somebody who holds the permission on the platform that the org has to approve what it does there, and where to ask. */
function findUnapproved(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget | undefined,
): Denial | undefined {
  if (target?.support === undefined || !allows(snapshot, check, permission, ifApproved(target))) return undefined;
  const [org] = target.references;
  const { orgId } = target.support;
  if (org === undefined || orgId === null) return { message: aboutCustomers, metadata: { permission } };
  if (!isApprovable(permission)) return { message: `${needsApproval}; ${approvedByNobody}`, metadata: { permission } };
  const path = `${formatReferences(patterns.Org, [org])}/accessRequests`;
  return {
    message: `${needsApproval}: ask for access with a POST to ${path}, for ${permission}`,
    metadata: { permission, access_requests: path, support_access: "required" },
  };
}

export const approves = "the customer requires that its orgs approve what members of the platform do in them";

export const needsApproval = `${approves}, and no approved access request gives the permission`;

/** Why there is no use in asking for a permission. */
export const approvedByNobody =
  "none can: what makes or changes access, credentials and deliveries, the org does itself";

const aboutCustomers = `${approves}, and none approves that for the customer`;

/** Returns what the credential of the caller leaves out; undefined if its member does not hold the permission either. */
function findNarrowed(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget | undefined,
): LeftOut | undefined {
  if (check.narrowing === undefined || target === undefined) return undefined;
  if (!allows(snapshot, { ...check, narrowing: undefined }, permission, target)) return undefined;
  const leftOut = findLeftOut(check.narrowing, permission, target.resource);
  return leftOut ?? (check.narrowing.impersonatorId === undefined ? undefined : "impersonator");
}

const reasons: Readonly<Record<LeftOut, string>> = {
  scope: "its scopes do not include it",
  project: "it is for another project",
  impersonator: "the member that impersonates it does not hold the permission",
};

function narrowed(permission: string, leftOut: LeftOut): Denial {
  const what = reasons[leftOut];
  return {
    message: `the caller's member holds the permission ${permission} on this resource, but its API key or token is narrowed: ${what}`,
    metadata: { permission, narrowed_by: leftOut },
  };
}

const aboutLimited =
  "its API key is limited: it counts only what the member held when another member created it, until the member or an owner of the org confirms it";

function* explainMissing(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget | undefined,
): Steps<Denial> {
  const message = `the caller lacks the permission ${permission} on this resource`;
  const nothing = { message: `${message} (or it might not exist)`, metadata: { permission } };
  if (target === undefined) return nothing;
  const open = { ...target, suspensions: unsuspended };
  const holds = (wanted: string): boolean => allows(snapshot, check, wanted, open);
  if (!holds(explainPermission)) return nothing;
  const denying = findDenying(snapshot, check, permission, target);
  if (denying !== undefined && holds(permission)) {
    return {
      message: `${message} while the ${denying.kind} is SUSPENDED`,
      metadata: { permission, state: "SUSPENDED" },
    };
  }
  // On a suspended resource, only callers that may lift the suspension see who holds what.
  if (!allows(snapshot, check, explainPermission, target)) return nothing;
  const limits = { maxUnmet: 0, maxRoles: 1, maxGrantors: seesOwnOrg(snapshot, check) ? maxGrantors : 0 };
  const explanation = yield* explainTarget(snapshot, check, permission, target, limits);
  const [role] = explanation.allowed ? [] : explanation.roles;
  if (explanation.allowed || role === undefined) return { message, metadata: { permission } };
  const rolePath = rolePathIn(snapshot, role);
  const granters = explanation.grantors.map((id) => memberPathIn(snapshot, id));
  const help = granters.length === 0 ? "" : `; ${granters.join(", ")} can grant it`;
  return {
    message: `${message}; the smallest role that holds it is ${rolePath}${help}`,
    metadata: { permission, role: rolePath, ...(granters.length > 0 && { granters: granters.join(" ") }) },
  };
}
