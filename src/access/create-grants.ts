import type { OrgTransaction } from "../changes/write-in-org.ts";
import { ServiceError } from "../errors/service-error.ts";
import { required } from "../resource/required.ts";
import { lackingPermissions } from "./engine/lacking-permissions.ts";
import type { Resource } from "./engine/resource.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import type { PredefinedRoles, RolePermissions } from "./engine/role-table.ts";
import type { GrantScope, GrantedRole, Grants, Renamed } from "./grants.ts";
import { type HeldRow, heldByAll, heldByGroup, heldByMember, heldConditionally } from "./held-rows.ts";
import { changedKeys, looksAtLabel, looksAtPath, looksAtSubject } from "./looks-at.ts";
import type { OrgHeads } from "./org-heads.ts";
import { scopeKindOf, scopeTypeOf } from "./scope-kinds.ts";
import type { Snapshots } from "./snapshots.ts";

/** Whoever holds it may grant what it does not hold itself. */
const unheld = "iam.roleBindings.grantUnheld";

/** Later than the end of whatever has one, in milliseconds. */
const endOfTime = Number.MAX_SAFE_INTEGER;

/** How many of the missing permissions an error names. */
const maxNamed = 5;

interface GrantsOptions {
  readonly snapshots: Snapshots;
  readonly heads: OrgHeads;
  readonly predefinedRoles: PredefinedRoles;
}

/** Who makes a change, what decides about that member, and the org in which it is made. */
interface Standing {
  readonly snapshot: OrgSnapshot;
  /** By the database's clock, in milliseconds. */
  readonly now: number;
  readonly actorId: string;
  readonly org: Pick<OrgTransaction["org"], "id" | "customer_id">;
}

/**
 * Decides by what the author holds when the write has its org's lock, so that nothing which is taken away before it can be
 * passed on.
 */
export function createGrants({ snapshots, heads, predefinedRoles }: GrantsOptions): Grants {
  /** What decides about the author, read now; undefined for the service itself, which may do everything. */
  const readStanding = async ({ author, org }: OrgTransaction): Promise<Standing | undefined> => {
    const { actorId, actorOrgId } = author;
    if (actorId === null || actorOrgId === null) return undefined;
    const head = required(await heads([{ by: "id", value: actorOrgId }]));
    return { snapshot: await snapshots.at(head.id, head.revision), now: head.now, actorId, org };
  };

  const permissionsOf = async ({ db, org }: OrgTransaction, role: GrantedRole): Promise<RolePermissions> => {
    if ("predefined" in role) return predefinedPermissions(role.predefined);
    const row = await db
      .selectFrom("roles")
      .select("permissions")
      .where("org_id", "=", org.id)
      .where("id", "=", role.id)
      .executeTakeFirst();
    return { permissions: row?.permissions ?? [], except: [] };
  };

  const predefinedPermissions = (name: string): RolePermissions =>
    predefinedRoles[name] ?? { permissions: [], except: [] };

  const requireHeld = async (
    transaction: OrgTransaction,
    role: RolePermissions,
    scope: GrantScope,
    deed: string,
  ): Promise<void> => {
    const standing = await readStanding(transaction);
    if (standing !== undefined) requireNothingLacking(standing, role, scope, deed);
  };

  /** Everything that somebody holds could be used by whoever becomes part of it. */
  const requireAllHeld = async (transaction: OrgTransaction, held: readonly HeldRow[], deed: string): Promise<void> => {
    if (held.length === 0) return;
    const standing = await readStanding(transaction);
    if (standing === undefined) return;
    for (const { predefined_role: predefined, permissions, scope_type: type, scope_id: id } of held) {
      const role =
        predefined === null ? { permissions: permissions ?? [], except: [] } : predefinedPermissions(predefined);
      requireNothingLacking(standing, role, { kind: scopeKindOf(type), id: id ?? "" }, deed);
    }
  };

  return {
    async requireMayGrant(transaction, role, scope) {
      const permissions = await permissionsOf(transaction, role);
      await requireHeld(transaction, permissions, scope, "a role can be granted only by who holds all of it there");
    },

    async requireMayDefine(transaction, permissions) {
      const scope = { kind: "org", id: transaction.org.id } as const;
      const deed = "a role can be given only permissions that one holds on the org";
      await requireHeld(transaction, { permissions, except: [] }, scope, deed);
    },

    async requireMayJoin(transaction, groupId) {
      const held = await heldByGroup(transaction, groupId);
      await requireAllHeld(transaction, held, "a group can be joined only by the hand of who holds all that it holds");
    },

    async requireMayActAs(transaction, memberId) {
      if (memberId === transaction.author.actorId) return;
      const held = await heldByMember(transaction, memberId);
      const deed = "a key of another member can be made only by who holds all that this member holds";
      await requireAllHeld(transaction, held, deed);
    },

    async requireMayRename(transaction, { type, id, scope }) {
      const [around, ofSubject] = [
        await heldConditionally(transaction, scope),
        await heldBySubject(transaction, type, id),
      ];
      const held = [
        ...here(
          around.filter(({ condition }) => looksAtPath(condition)),
          scope,
        ),
        ...ofSubject.filter(({ condition }) => looksAtSubject(condition)),
      ];
      const deed = "what conditions know by its name can be renamed only by who holds all that they are about";
      await requireAllHeld(transaction, held, deed);
    },

    async requireMayRelabel(transaction, scope, before, after) {
      const labels = changedKeys(before, after);
      if (labels.length === 0) return;
      const around = await heldConditionally(transaction, scope);
      // Those of an org are its own: its projects have others.
      const seen = around.filter(
        ({ condition, scope_type: type }) =>
          (scope.kind !== "org" || type !== "PROJECT") && labels.some((label) => looksAtLabel(condition, label)),
      );
      const deed = "labels that conditions look at can be changed only by who holds all that they are about";
      await requireAllHeld(transaction, here(seen, scope), deed);
    },
  };
}

/** @throws ServiceError GRANT_EXCEEDS_OWN */
function requireNothingLacking(standing: Standing, role: RolePermissions, scope: GrantScope, deed: string): void {
  const { snapshot, now, actorId, org } = standing;
  const asked = {
    subject: { kind: "member", id: actorId },
    resource: resourceOf(scope, org.id, org.customer_id),
  } as const;
  // What ends by itself does not count: it would be passed on without an end.
  const lacks = (wanted: RolePermissions): string[] => [
    ...new Set([now, endOfTime].flatMap((time) => lackingPermissions(snapshot, { ...asked, now: time }, wanted))),
  ];
  if (lacks({ permissions: [unheld], except: [] }).length === 0) return;
  const missing = lacks(role);
  if (missing.length > 0) throw exceedsOwn(deed, missing);
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

/** What is held above something has to be held only there. */
function here(rows: readonly HeldRow[], { kind, id }: GrantScope): HeldRow[] {
  const scope = { scope_type: scopeTypeOf(kind), scope_id: id };
  return rows.map((row) => (row.scope_type === "PROJECT" ? row : { ...row, ...scope }));
}

/** What conditions may give by the path of who asks. */
function heldBySubject(transaction: OrgTransaction, type: Renamed["type"], id: string): Promise<HeldRow[]> {
  switch (type) {
    case "Member":
      return heldByMember(transaction, id);
    case "Group":
      return heldByGroup(transaction, id);
    case "Org":
      return heldByAll(transaction, id);
    default:
      return Promise.resolve([]);
  }
}

function exceedsOwn(deed: string, missing: readonly string[]): ServiceError {
  const named = missing.slice(0, maxNamed).map((permission) => (permission === "*" ? "every permission" : permission));
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  return new ServiceError("GRANT_EXCEEDS_OWN", `${deed}: the caller lacks ${named.join(", ")}${more}`, {
    metadata: { permission: missing[0] ?? "" },
  });
}
