import { setImmediate as nextTurn } from "node:timers/promises";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { ServiceError } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { unconditionalRoles } from "../engine/decisions/effective-roles.ts";
import { lackingPermissions } from "../engine/decisions/lacking-permissions.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { PredefinedRoles, RolePermissions } from "../engine/tables/role-table.ts";
import type { GrantScope } from "./guard-types.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { EffectiveGrant } from "./store.ts";

/** A time after every expire time, in milliseconds. */
const endOfTime = Number.MAX_SAFE_INTEGER;

/** How many grants are checked between two turns of the event loop: a group can be granted roles on 100,000 projects. */
const grantsPerTurn = 200;

export interface RequireHeldOptions {
  readonly snapshots: Snapshots;
  readonly heads: OrgHeads;
  readonly predefinedRoles: PredefinedRoles;
}

/** A role on a scope. */
export type ScopedRole = Pick<EffectiveGrant, "role" | "scope">;

/** What an author must hold to make a change. */
export interface Demand {
  /** The permissions that replace all others: an author who holds them on a scope needs nothing else there. */
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

export function createRequireHeld({ snapshots, heads, predefinedRoles }: RequireHeldOptions): RequireHeld {
  const permissionsOf = (role: EffectiveGrant["role"]): RolePermissions => {
    if ("permissions" in role) return { permissions: role.permissions, except: [] };
    return predefinedRoles[role.predefined] ?? { permissions: [], except: [] };
  };

  return async (transaction, grants, { unless, deny }) => {
    const { author, org } = transaction;
    const { actorId, actorOrgId } = author;
    // The service itself may do everything.
    if (grants.length === 0 || actorId === null || actorOrgId === null) return;
    // Uses what the author holds now, under the lock of the org: access that was removed before cannot be passed on.
    const head =
      actorOrgId === org.id
        ? { revision: org.revision, readAt: performance.now(), now: org.lockTime.getTime() }
        : required(await heads([{ by: "id", value: actorOrgId }]));
    const snapshot = await snapshots.at(actorOrgId, head);
    for (const [index, { role, scope }] of grants.entries()) {
      if (index % grantsPerTurn === grantsPerTurn - 1) await nextTurn();
      const held = lastingRoles(snapshot, actorId, resourceOf(scope, org.id, org.customer_id), head.now);
      if (lacking(snapshot, held, { permissions: unless, except: [] }).length === 0) continue;
      const missing = lacking(snapshot, held, permissionsOf(role));
      if (missing.length > 0) throw deny(missing, scope, transaction);
    }
  };
}

/** Returns the roles that a member holds on a resource without a condition: those of now, and those that never expire. */
function lastingRoles(snapshot: OrgSnapshot, memberId: string, resource: TargetScope, now: number): number[][] {
  const subject = { kind: "member", id: memberId } as const;
  // Access that expires does not count: what it allows to give or take is given or taken without an end.
  return [now, endOfTime].map((time) => unconditionalRoles(snapshot, { subject, resource, now: time, counted: "all" }));
}

/** Returns the permissions of a role that any of these sets of roles lacks. */
function lacking(snapshot: OrgSnapshot, held: readonly (readonly number[])[], wanted: RolePermissions): string[] {
  return [...new Set(held.flatMap((roles) => lackingPermissions(snapshot, roles, wanted)))];
}

function resourceOf({ kind, id }: GrantScope, orgId: string, customerId: string): TargetScope {
  switch (kind) {
    case "platform":
      return { kind };
    case "customer":
      return { kind, customerId: id };
    case "org":
      return { kind, customerId, orgId: id };
    case "project":
      return { kind, customerId, orgId, projectId: id };
  }
}
