import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
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

/** The permission to grant what the grantor does not hold. */
const unheld = "iam.roleBindings.grantUnheld";

/** A time after every expire time, in milliseconds. */
const endOfTime = Number.MAX_SAFE_INTEGER;

/** The maximum number of missing permissions that an error names. */
const maxNamed = 5;

export interface RequireHeldOptions {
  readonly snapshots: Snapshots;
  readonly heads: OrgHeads;
  readonly predefinedRoles: PredefinedRoles;
}

/**
 * Checks that the author of a change holds all of these roles on their scopes, without a condition or an expire time.
 *
 * @param rule the rule that the error states.
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export type RequireHeld = (
  transaction: OrgTransaction,
  granted: readonly Pick<EffectiveGrant, "role" | "scope">[],
  rule: string,
) => Promise<void>;

export function createRequireHeld({ snapshots, heads, predefinedRoles }: RequireHeldOptions): RequireHeld {
  const permissionsOf = (role: EffectiveGrant["role"]): RolePermissions => {
    if ("permissions" in role) return { permissions: role.permissions, except: [] };
    return predefinedRoles[role.predefined] ?? { permissions: [], except: [] };
  };

  return async ({ author, org }, granted, rule) => {
    const { actorId, actorOrgId } = author;
    // The service itself may do everything.
    if (granted.length === 0 || actorId === null || actorOrgId === null) return;
    // Uses what the author holds now, under the lock of the org: access that was removed before cannot be passed on.
    const head =
      actorOrgId === org.id
        ? { revision: org.revision, readAt: performance.now(), now: org.lockTime.getTime() }
        : required(await heads([{ by: "id", value: actorOrgId }]));
    const snapshot = await snapshots.at(actorOrgId, head);
    for (const { role, scope } of granted) {
      const resource = resourceOf(scope, org.id, org.customer_id);
      const missing = lackingOf(snapshot, actorId, resource, head.now, permissionsOf(role));
      if (missing.length > 0) throw exceedsOwn(rule, missing);
    }
  };
}

/** Returns the permissions of a role that a member lacks on a resource; empty if the member may grant what it does not hold. */
function lackingOf(
  snapshot: OrgSnapshot,
  memberId: string,
  resource: TargetScope,
  now: number,
  role: RolePermissions,
): string[] {
  const subject = { kind: "member", id: memberId } as const;
  // Access that expires does not count: it would be passed on without an expire time.
  const held = [now, endOfTime].map((time) => unconditionalRoles(snapshot, { subject, resource, now: time }));
  const lacks = (wanted: RolePermissions): string[] => [
    ...new Set(held.flatMap((roles) => lackingPermissions(snapshot, roles, wanted))),
  ];
  return lacks({ permissions: [unheld], except: [] }).length === 0 ? [] : lacks(role);
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

function exceedsOwn(rule: string, missing: readonly string[]): ServiceError {
  const named = missing.slice(0, maxNamed).map((permission) => (permission === "*" ? "every permission" : permission));
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  return new ServiceError("GRANT_EXCEEDS_OWN", `${rule}: the caller lacks ${named.join(", ")}${more}`, {
    metadata: { permission: missing[0] ?? "" },
  });
}
