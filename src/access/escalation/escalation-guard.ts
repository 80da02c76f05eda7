// Prevents privilege escalation. Each change of access is translated into the roles that it would pass on or take away, and its
// author must hold all of them.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { readsLabel } from "../conditions/condition-dependencies.ts";
import type { KnownDependencies } from "../conditions/known-dependencies.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { PredefinedRoles } from "../engine/tables/role-table.ts";
import type { ViewAuthor } from "../evaluation/author-view.ts";
import { breakingGlass, granting, revoking, shifting } from "./demands.ts";
import type { GrantScope, EscalationGuard, LabelValues, Renamed } from "./guard-types.ts";
import {
  type RequireHeld,
  createPermissionsOf,
  createRequireHeld,
  holdsOnOrg,
  permissionToBreakGlass,
  provisions,
  requireWhole,
} from "./require-held.ts";
import { type Readers, createRequireReadHeld } from "./require-read-held.ts";
import { type WayToAct, createRequireWithin, unlimitedWay } from "./require-within.ts";
import { findRevokedRoles, readRoles } from "./revoked-roles.ts";
import { type EffectiveGrant, heldBy, heldByAll, heldConditionally } from "./store.ts";

/** @param known what conditions read. */
export function createEscalationGuard(
  viewAuthor: ViewAuthor,
  predefinedRoles: PredefinedRoles,
  known: KnownDependencies,
): EscalationGuard {
  const requireHeld = createRequireHeld(viewAuthor, predefinedRoles);
  const requireReadHeld = createRequireReadHeld(requireHeld, known);
  const isOwner: EscalationGuard["isOwner"] = async (transaction) => {
    const { author } = transaction;
    if (author.grantsUntil !== null || author.narrowing !== undefined) return false;
    const view = await viewAuthor(transaction, "lasting");
    return view === undefined || holdsOnOrg(view, required(predefinedRoles["owner"]), transaction);
  };

  const requireMayActAs: EscalationGuard["requireMayActAs"] = async (transaction, memberId, grantsUntil) => {
    const { author } = transaction;
    requireWhole(transaction);
    if (memberId === author.actorId && (author.grantsUntil === null || author.grantsUntil === grantsUntil)) return;
    const held = await heldBy(transaction, { members: [memberId] });
    await requireHeld(transaction, held, granting(actAsRule));
  };

  /** Checks that the author may let somebody act as a member who counts everything that is granted to it later. */
  const requireMayGiveAll: RequireMayGiveAll = async (transaction, memberId, way, rule) => {
    const { actorId, grantsUntil } = transaction.author;
    const may = actorId === memberId ? grantsUntil === null : await isOwner(transaction);
    if (!may) throw new ServiceError("GRANT_EXCEEDS_OWN", rule, { metadata: { role: "/roles/owner" } });
    (await createRequireWithin(transaction))(way);
    await requireMayActAs(transaction, memberId, null);
  };

  return {
    isOwner,
    requireMayBreakGlass: createRequireMayBreakGlass(requireHeld),
    requireMayActAs,
    requireMayImpersonate: createRequireMayImpersonate(requireHeld, predefinedRoles),
    requireMayJoin: createRequireMayJoin(requireHeld),

    async requireMayGrant(transaction, grants) {
      const rule = "to grant a role, the caller must hold every permission of the role on the same resource";
      await requireHeld(transaction, await readRoles(transaction, grants), granting(rule));
    },

    async requireMayDefine(transaction, permissions) {
      const scope = { kind: "org", id: transaction.org.id } as const;
      const rule = "to add permissions to a role, the caller must hold them on the org";
      await requireHeld(transaction, [{ role: { permissions }, scope }], granting(rule));
    },

    async requireMayRevoke(transaction, revocations) {
      // A source takes from each of its people whatever that holds.
      const demanding = isSource(transaction) ? revocations.filter(({ memberId }) => memberId === null) : revocations;
      await requireHeld(transaction, await findRevokedRoles(transaction, demanding), revoking);
    },

    async requireMayConfirm(transaction, memberId, key) {
      await requireMayGiveAll(transaction, memberId, key, confirmRule);
    },

    async requireMayLink(transaction, memberId) {
      if (!isSource(transaction)) await requireMayGiveAll(transaction, memberId, unlimitedWay, linkRule);
    },

    async requireMayRename(transaction, renamed) {
      await requireReadHeld(transaction, await readersOfName(transaction, renamed), shifting(nameRule));
    },

    async requireMayRelabel(transaction, scope, before, after) {
      const labels = changedKeys(before, after);
      if (labels.length === 0) return;
      await requireReadHeld(transaction, [await readersOfLabels(transaction, scope, labels)], shifting(labelRule));
    },
  };
}

const createRequireMayBreakGlass =
  (requireHeld: RequireHeld): EscalationGuard["requireMayBreakGlass"] =>
  async (transaction, scope) => {
    requireWhole(transaction);
    if (transaction.author.grantsUntil !== null) {
      throw new ServiceError("GRANT_EXCEEDS_OWN", "with a limited API key, nobody begins access without a decision");
    }
    const role = { permissions: [permissionToBreakGlass] };
    await requireHeld(transaction, [{ role, scope }], breakingGlass);
  };

function createRequireMayImpersonate(
  requireHeld: RequireHeld,
  predefinedRoles: PredefinedRoles,
): EscalationGuard["requireMayImpersonate"] {
  const permissionsOf = createPermissionsOf(predefinedRoles);
  return async (transaction, memberId) => {
    const held = await heldBy(transaction, { members: [memberId] });
    const provisioning = held.filter(({ role }) => provisions(permissionsOf(role)));
    await requireHeld(transaction, provisioning, granting(impersonateRule));
  };
}

const createRequireMayJoin =
  (requireHeld: RequireHeld): EscalationGuard["requireMayJoin"] =>
  async (transaction, groupIds) => {
    const held = await heldBy(transaction, { groups: groupIds });
    const rule = isSource(transaction)
      ? `a SCIM source adds nobody to a group that holds roles outside of its org, which is done by hand: ${groupPaths(transaction, groupIds)}`
      : "to add to a group, the caller must hold every permission that the group holds";
    await requireHeld(transaction, held, granting(rule));
  };

/** Whether the author is a SCIM source, which links the members that it has just made. */
const isSource = ({ author }: OrgTransaction): boolean => author.provisions === true;

const groupPaths = ({ org }: OrgTransaction, ids: readonly string[]): string =>
  [...new Set(ids)].map((id) => formatPath(patterns.Group, pathName(org), `@${id}`)).join(", ");

type RequireMayGiveAll = (transaction: OrgTransaction, memberId: string, way: WayToAct, rule: string) => Promise<void>;

const actAsRule =
  "to create, change or confirm an API key of another member, or to create its identities, the caller must hold every permission that the member holds";
const impersonateRule =
  "to impersonate an application that may provision by SCIM, the caller must hold every permission of the org";
const confirmRule =
  "an API key is confirmed by its member or by an owner of the org, with an API key that is not limited itself";
const linkRule =
  "an identity is created by its member or by an owner of the org, with a credential that is neither limited nor narrowed";

const nameRule =
  "to change a name that conditions read, the caller must hold every permission that these conditions guard";
const labelRule =
  "to change labels that conditions read, the caller must hold every permission that these conditions guard";

async function readersOfName(transaction: OrgTransaction, { type, id, scope }: Renamed): Promise<Readers[]> {
  const around = await heldConditionally(transaction, scope);
  const ofSubject = await heldBySubject(transaction, type, id);
  return [
    { grants: around.map((grant) => heldIn(scope, grant)), variable: "resource", reads: ({ path }) => path },
    { grants: ofSubject, variable: "subject", reads: ({ subject }) => subject },
  ];
}

async function readersOfLabels(
  transaction: OrgTransaction,
  scope: GrantScope,
  labels: readonly string[],
): Promise<Readers> {
  const around = await heldConditionally(transaction, scope);
  // An org's labels do not apply to its projects, which have their own.
  const inScope = around.filter((grant) => scope.kind !== "org" || grant.scope.kind !== "project");
  return {
    grants: inScope.map((grant) => heldIn(scope, grant)),
    variable: "resource",
    reads: (dependencies) => labels.some((label) => readsLabel(dependencies, label)),
  };
}

/** Returns the keys of the labels that differ between two sets, including those that only one of the sets has. */
function changedKeys(before: LabelValues, after: LabelValues): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]);
}

/** Narrows a grant to a scope: the author needs a grant from above the scope only in the scope. */
function heldIn(scope: GrantScope, grant: EffectiveGrant): EffectiveGrant {
  return grant.scope.kind === "project" ? grant : { ...grant, scope };
}

/** Returns the grants of the subjects whose paths change with the rename. */
function heldBySubject(transaction: OrgTransaction, type: Renamed["type"], id: string): Promise<EffectiveGrant[]> {
  switch (type) {
    case "Member":
      return heldBy(transaction, { members: [id] });
    case "Group":
      return heldBy(transaction, { groups: [id] });
    case "Org":
      return heldByAll(transaction, id);
    default:
      return Promise.resolve([]);
  }
}
