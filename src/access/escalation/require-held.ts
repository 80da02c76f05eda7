import { setImmediate as nextTurn } from "node:timers/promises";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { isGuarded } from "../../database/support-required.ts";
import { lastingRoles } from "../engine/decisions/effective-roles.ts";
import { lackingPermissions } from "../engine/decisions/lacking-permissions.ts";
import { type TargetScope, withoutPlatform } from "../engine/decisions/target-scope.ts";
import type { PredefinedRoles, RolePermissions } from "../engine/tables/role-table.ts";
import { impersonating } from "../evaluation/allows.ts";
import type { ViewAuthor } from "../evaluation/author-view.ts";
import type { DecisionView } from "../evaluation/caller-view.ts";
import { requireExact } from "../evaluation/limited-grants.ts";
import { provisionPermission } from "../evaluation/provisioning.ts";
import type { GrantScope } from "./guard-types.ts";
import type { EffectiveGrant } from "./store.ts";

/** How many grants are checked between two turns of the event loop: a group can be granted roles on 100,000 projects. */
const grantsPerTurn = 200;

export type ScopedRole = Pick<EffectiveGrant, "role" | "scope">;

/** What an author must hold to make a change. */
export interface Demand {
  /** Whether the change passes permissions on, which a narrowed API key or token must not. */
  readonly passesOn: boolean;
  /** The permissions that replace all others: an author who holds them on a scope needs nothing else there. None if there are no such permissions. */
  readonly unless: readonly string[];
  /** Returns the error for permissions that the author lacks on a scope. There is at least one. */
  readonly deny: (missing: readonly string[], scope: GrantScope, transaction: OrgTransaction) => ServiceError;
}

/**
 * Checks that the author of a change holds all of these roles on their scopes, without a condition or an expire time.
 *
 * @throws ServiceError the error of the demand.
 */
export type RequireHeld = (transaction: OrgTransaction, grants: readonly ScopedRole[], demand: Demand) => Promise<void>;

/**
 * Checks that the author did not use a narrowed API key or token: what it passed on would not be narrowed.
 *
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export function requireWhole({ author }: OrgTransaction): void {
  if (author.narrowing === undefined) return;
  throw new ServiceError(
    "GRANT_EXCEEDS_OWN",
    "with a narrowed API key or token, nobody can pass on access or create API keys",
  );
}

/** Returns the function that returns the permissions of a role. */
export function createPermissionsOf(predefinedRoles: PredefinedRoles) {
  return (role: EffectiveGrant["role"]): RolePermissions => {
    if ("permissions" in role) return { permissions: role.permissions };
    return predefinedRoles[role.predefined] ?? { permissions: [] };
  };
}

/** Whether a role has, by name, the permission of a SCIM source. */
export const provisions = ({ permissions }: RolePermissions): boolean => permissions.includes(provisionPermission);

/** Begins access to anything without a decision. */
export const permissionToBreakGlass = "iam.accessRequests.breakGlass";

/** Returns what somebody can do who gets these permissions. */
const worthOf = (role: RolePermissions): RolePermissions =>
  provisions(role) || role.permissions.includes(permissionToBreakGlass) ? { permissions: "*" } : role;

export function createRequireHeld(viewAuthor: ViewAuthor, predefinedRoles: PredefinedRoles): RequireHeld {
  const permissionsOf = createPermissionsOf(predefinedRoles);

  return async (transaction, given, { passesOn, unless, deny }) => {
    if (given.length === 0) return;
    const view = await viewAuthor(transaction, "lasting");
    // The service itself may do everything.
    if (view === undefined) return;
    const isSource = transaction.author.provisions === true;
    if (isSource && passesOn) await requireLastingSource(view, transaction);
    const grants = isSource ? given.filter(isAbove(transaction)) : given;
    if (grants.length === 0) return;
    if (passesOn) requireWhole(transaction);
    const { snapshot, check } = view;
    const { org } = transaction;
    const leavesOut = await leavesOutPlatform(view, transaction);
    const impersonatorId = check.narrowing?.impersonatorId;
    const views =
      impersonatorId === undefined ? [view] : [view, { snapshot, check: impersonating(check, impersonatorId) }];
    for (const [index, { role, scope }] of grants.entries()) {
      if (index % grantsPerTurn === grantsPerTurn - 1) await nextTurn();
      for (const each of views) {
        const resource = resourceOf(scope, org.id, org.customer_id);
        const held = heldForGood(each, leavesOut ? withoutPlatform(resource) : resource);
        if (unless.length > 0 && lackingPermissions(snapshot, held, { permissions: unless }).length === 0) continue;
        const wanted = permissionsOf(role);
        const missing = lackingPermissions(snapshot, held, passesOn ? worthOf(wanted) : wanted);
        if (missing.length > 0) throw deny(missing, scope, transaction);
      }
    }
  };
}

/** What a SCIM source manages, it manages whatever that holds in the org: an owner of the org has decided so, and nobody above it. */
const isAbove =
  ({ org }: OrgTransaction) =>
  ({ scope }: ScopedRole): boolean =>
    scope.kind !== "project" && (scope.kind !== "org" || scope.id !== org.id);

/** Checks that a SCIM source gives what does not end by what does not end. @throws ServiceError GRANT_EXCEEDS_OWN */
async function requireLastingSource(view: DecisionView, transaction: OrgTransaction): Promise<void> {
  if (await holdsOnOrg(view, { permissions: [provisionPermission] }, transaction)) return;
  const message = `a SCIM source gives roles by its groups only while its application holds ${provisionPermission} on the org without a condition and without an expire time`;
  throw new ServiceError("GRANT_EXCEEDS_OWN", message);
}

/**
 * Reports whether what the author holds on the platform does not count in the org, because its customer requires that members of the platform are approved.
 * What is approved ends, so nothing is passed on by it.
 */
async function leavesOutPlatform(
  { snapshot: { scopes } }: DecisionView,
  { db, org }: OrgTransaction,
): Promise<boolean> {
  return scopes.cellCountOf(scopes.platform) > 0 && (await isGuarded(db, org.customer_id));
}

/** Reports whether the author holds a role on the org of a transaction, without a condition or an expire time. */
export async function holdsOnOrg(
  view: DecisionView,
  role: RolePermissions,
  transaction: OrgTransaction,
): Promise<boolean> {
  const resource = { kind: "org", customerId: transaction.org.customer_id, orgId: transaction.org.id } as const;
  const counted = (await leavesOutPlatform(view, transaction)) ? withoutPlatform(resource) : resource;
  return lackingPermissions(view.snapshot, heldForGood(view, counted), role).length === 0;
}

/** Returns the roles that a member holds on a resource. Access that expires does not count: what it allows is done without an end. */
function heldForGood({ snapshot, check }: DecisionView, resource: TargetScope): number[] {
  const { subject, now, counted } = check;
  requireExact(snapshot, counted);
  return lastingRoles(snapshot, { subject, resource, now, counted });
}

function resourceOf({ kind, id }: GrantScope, orgId: string, customerId: string): TargetScope {
  switch (kind) {
    case "platform":
      return { kind };
    case "customer":
      return { kind, customerId: id };
    case "service":
      return { kind, serviceId: id };
    case "org":
      return { kind, customerId, orgId: id };
    case "project":
      return { kind, customerId, orgId, projectId: id };
  }
}
