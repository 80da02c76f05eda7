import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { required } from "../../resource/required.ts";
import { unconditionalRoles } from "../engine/held-roles.ts";
import { lackingPermissions } from "../engine/lacking-permissions.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Resource } from "../engine/resource.ts";
import type { PredefinedRoles, RolePermissions } from "../engine/role-table.ts";
import type { GrantScope } from "../grants.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { HeldGrant } from "./store.ts";

/** Who holds it may grant what it does not hold itself. */
const unheld = "iam.roleBindings.grantUnheld";

/** Later than the end of whatever has one, in milliseconds. */
const endOfTime = Number.MAX_SAFE_INTEGER;

/** How many of the missing permissions an error names. */
const maxNamed = 5;

export interface RequireHeldOptions {
  readonly snapshots: Snapshots;
  readonly heads: OrgHeads;
  readonly predefinedRoles: PredefinedRoles;
}

/**
 * Makes sure that the author of a change holds all of these roles where they are granted, without a condition or an end.
 *
 * @param rule is what the error says.
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export type RequireHeld = (
  transaction: OrgTransaction,
  granted: readonly Pick<HeldGrant, "role" | "scope">[],
  rule: string,
) => Promise<void>;

export function createRequireHeld({ snapshots, heads, predefinedRoles }: RequireHeldOptions): RequireHeld {
  const permissionsOf = (role: HeldGrant["role"]): RolePermissions => {
    if ("permissions" in role) return { permissions: role.permissions, except: [] };
    return predefinedRoles[role.predefined] ?? { permissions: [], except: [] };
  };

  return async ({ author, org }, granted, rule) => {
    const { actorId, actorOrgId } = author;
    // The service itself may do everything.
    if (granted.length === 0 || actorId === null || actorOrgId === null) return;
    // What the author holds now, with the lock of the org: nothing that was taken away before can be passed on.
    const { id, revision, now } = required(await heads([{ by: "id", value: actorOrgId }]));
    const snapshot = await snapshots.at(id, revision);
    for (const { role, scope } of granted) {
      const resource = resourceOf(scope, org.id, org.customer_id);
      const missing = lackingOf(snapshot, actorId, resource, now, permissionsOf(role));
      if (missing.length > 0) throw exceedsOwn(rule, missing);
    }
  };
}

/** What a member lacks of a role on a resource; nothing where it may grant what it does not hold. */
function lackingOf(
  snapshot: OrgSnapshot,
  memberId: string,
  resource: Resource,
  now: number,
  role: RolePermissions,
): string[] {
  const subject = { kind: "member", id: memberId } as const;
  // What ends by itself does not count: it would be passed on without an end.
  const held = [now, endOfTime].map((time) => unconditionalRoles(snapshot, { subject, resource, now: time }));
  const lacks = (wanted: RolePermissions): string[] => [
    ...new Set(held.flatMap((roles) => lackingPermissions(snapshot, roles, wanted))),
  ];
  return lacks({ permissions: [unheld], except: [] }).length === 0 ? [] : lacks(role);
}

function resourceOf({ kind, id }: GrantScope, orgId: string, customerId: string): Resource {
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
