// The roles and scopes with which tests ask the guard against escalation.
import type { GrantScope } from "../../src/access/escalation/guard-types.ts";
import type { GuardPlace, PlacedBinding } from "./guard-place.ts";

export const [start, stop] = ["compute.instances.start", "compute.instances.stop"] as const;
export const revokeUnheld = "iam.roleBindings.revokeUnheld";

const listed = (...permissions: string[]) => ({ permissions });
export const roles = {
  owner: { permissions: "*" },
  starter: listed(start),
  seven: listed(start, stop, ...[1, 2, 3, 4, 5].map((number) => `compute.disks.verb${number}`)),
  six: listed(start, stop, ...[1, 2, 3, 4].map((number) => `compute.disks.verb${number}`)),
  reader: listed("*.*.get"),
  writer: listed("*.*.*"),
  granter: listed("iam.roleBindings.grantUnheld"),
  revoker: listed(revokeUnheld),
} as const;

export const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);

export const exceeds = (message: string, permission: string) => ({
  reason: "GRANT_EXCEEDS_OWN",
  message,
  metadata: { permission },
});

/** Returns what binds roles in a place, and its scopes. The place is created before the first call. */
export function grantsIn(place: () => GuardPlace) {
  /** Binds a role to alice. */
  const give = (role: PlacedBinding["role"], more: Partial<PlacedBinding> = {}) =>
    place().bind({ role, to: { member: place().alice }, ...more });

  const orgScope = (): GrantScope => ({ kind: "org", id: place().orgId });
  const shopScope = (): GrantScope => ({ kind: "project", id: place().shop });
  const webScope = (): GrantScope => ({ kind: "project", id: place().web });

  return { give, orgScope, shopScope, webScope };
}
