import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { GrantedRole, Revocation, RoleGrant } from "./guard-types.ts";
import type { ScopedRole } from "./require-held.ts";
import { type EffectiveGrant, findGrantedRoles, heldBy, readRolePermissions } from "./store.ts";

/**
 * Returns the roles that members other than the author lose, and those of the author if its API key is limited, on their scopes. Reads the bindings that are concerned and never
 * the members who lose them, of whom there can be a million.
 */
export async function findRevokedRoles(
  transaction: OrgTransaction,
  revocations: readonly Revocation[],
): Promise<ScopedRole[]> {
  const exempt = exemptOf(transaction);
  const ofOthers = revocations.filter(({ memberId }) => memberId === null || memberId !== exempt);
  const of = Object.groupBy(ofOthers, ({ kind }) => kind) as OfKinds;
  const held = await heldBy(transaction, {
    members: (of.member ?? []).map(({ memberId }) => memberId),
    groups: [...new Set(of.group?.map(({ groupId }) => groupId))],
  });
  const roles = await readRoles(transaction, of.role ?? []);
  const permissions = await readLostPermissions(transaction, of.permissions ?? []);
  return [...held, ...roles, ...permissions];
}

/** Returns the member who may lose everything: the author. Somebody else may have a limited API key of the author, or impersonate it. */
function exemptOf({ author }: OrgTransaction): string | null {
  const isItself = author.grantsUntil === null && author.narrowing?.impersonatorId === undefined;
  return isItself ? author.actorId : null;
}

type OfKind<Kind extends Revocation["kind"]> = Extract<Revocation, { readonly kind: Kind }>;
type OfKinds = { readonly [Kind in Revocation["kind"]]?: readonly OfKind<Kind>[] };

export async function readRoles(transaction: OrgTransaction, grants: readonly RoleGrant[]): Promise<ScopedRole[]> {
  const ids = new Set(grants.flatMap(({ role }) => ("id" in role ? [role.id] : [])));
  const custom = await readRolePermissions(transaction, [...ids]);
  const read = (role: GrantedRole): EffectiveGrant["role"] =>
    "predefined" in role ? role : { permissions: custom.get(role.id) ?? [] };
  return grants.map(({ role, scope }) => ({ role: read(role), scope }));
}

/** Demands them on the org, as adding permissions to a role does. */
async function readLostPermissions(
  transaction: OrgTransaction,
  revoked: readonly OfKind<"permissions">[],
): Promise<ScopedRole[]> {
  const { org } = transaction;
  const ids = revoked.map(({ roleId }) => roleId);
  const granted = await findGrantedRoles(transaction, ids, exemptOf(transaction));
  return revoked
    .filter(({ roleId }) => granted.has(roleId))
    .map(({ permissions }) => ({ role: { permissions }, scope: { kind: "org", id: org.id } }));
}
