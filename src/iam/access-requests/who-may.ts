// Who sees an access request, and who decides about it: the member that asks, and those who can grant roles on what it asks for.
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { accessRequestPath, wantedResourcePath } from "./message.ts";
import type { AccessRequestRow } from "./store.ts";

const permissionToGrant = "iam.roleBindings.create";
export const permissionToRevoke = "iam.roleBindings.delete";
export const permissionToGet = "iam.accessRequests.get";

type Scope = Pick<AccessRequestRow, "org_id" | "project_id">;

const byId = (value: string): Reference => ({ by: "id", value });

/** Returns the path of the org or project that a request is about, by ids. */
export function scopeOf({ org_id: orgId, project_id: projectId }: Scope): AnyPath {
  if (projectId === null) return { pattern: patterns.Org, references: [byId(orgId)] };
  return { pattern: patterns.Project, references: [byId(orgId), byId(projectId)] };
}

/** Reports whether somebody can grant roles on what a request is about. */
export function mayGrant(holds: Holds, scope: Scope): Promise<boolean> {
  return holds(permissionToGrant, scopeOf(scope));
}

/** Reports whether somebody can end the access of another member. What has begun without a decision, those who could have decided end, too. */
export async function mayEnd(row: AccessRequestRow, holds: Holds): Promise<boolean> {
  return (await holds(permissionToRevoke, scopeOf(row))) || (row.break_glass && (await mayGrant(holds, row)));
}

/** Somebody who asks, with what it holds. */
export interface Viewer {
  readonly orgId: string | null;
  readonly memberId: string | null;
  readonly holds: Holds;
}

export function isOwn(row: AccessRequestRow, { orgId, memberId }: Pick<Viewer, "orgId" | "memberId">): boolean {
  if (row.supporter_id !== null) return row.supporter_org_id === orgId && row.supporter_id === memberId;
  return row.org_id === orgId && row.member_id === memberId;
}

/** Reports whether somebody may see a request. */
export async function maySee(row: AccessRequestRow, viewer: Viewer): Promise<boolean> {
  if (isOwn(row, viewer)) return true;
  return (await viewer.holds(permissionToGet, pathById(row))) || mayGrant(viewer.holds, row);
}

/**
 * Returns the error for a request that does not exist or that somebody may not see: the same for both, unless it may see all.
 *
 * @param permission of the method.
 */
export async function notSeen(path: readonly Reference[], permission: string, holds: Holds): Promise<ServiceError> {
  const pattern = patterns.AccessRequest;
  if (await holds(permissionToGet, { pattern, references: path }))
    return notFound("access request", formatReferences(pattern, path));
  const message = `the caller lacks the permission ${permission} on this resource (or it might not exist)`;
  return new ServiceError("PERMISSION_DENIED", message, { metadata: { permission } });
}

/** Checks that somebody may withdraw a request of another member. @throws ServiceError PERMISSION_DENIED */
export async function requireMayCancel(row: AccessRequestRow, holds: Holds): Promise<void> {
  const [permission, resource] = ["iam.accessRequests.cancel", accessRequestPath(row)];
  if (await holds(permission, pathById(row))) return;
  const message = `the caller may not withdraw ${resource}, which is of another member: it lacks the permission ${permission}`;
  throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission, resource } });
}

const pathById = (row: AccessRequestRow): AnyPath => ({
  pattern: patterns.AccessRequest,
  references: [byId(row.org_id), byId(row.id)],
});

/**
 * Checks that the author of a change may decide about a request: it can grant roles on what the request is about, and is neither the
 * member that asks nor impersonated by it. Members of the platform decide about none of their own.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export async function requireMayDecide({ author }: OrgTransaction, row: AccessRequestRow, holds: Holds): Promise<void> {
  const asks = { orgId: author.actorOrgId, memberId: author.actorId };
  if (row.supporter_id !== null && author.actorOrgId === row.supporter_org_id) {
    const message = `${accessRequestPath(row)} is of a member of the platform: the org has to decide`;
    throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: permissionToGrant } });
  }
  if (isOwn(row, asks) || (row.member_id !== null && author.narrowing?.impersonatorId === row.member_id)) {
    const message = `the caller asks for the access itself with ${accessRequestPath(row)}: another member has to decide`;
    throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: permissionToGrant } });
  }
  if (!(await mayGrant(holds, row))) throw lacks(permissionToGrant, row, "decide about");
}

/** Returns the error for somebody who sees a request, and lacks a permission on what it is about. */
export function lacks(permission: string, row: AccessRequestRow, verb: string): ServiceError {
  const resource = wantedResourcePath(row);
  const message = `the caller may not ${verb} ${accessRequestPath(row)}, which requires the permission ${permission} on ${resource}`;
  return new ServiceError("PERMISSION_DENIED", message, { metadata: { permission, resource } });
}
