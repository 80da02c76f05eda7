// Keeps people from widening what they, or others, may do: each change that could do so is translated into the roles that it
// would pass on, and its author must hold all of them.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { GrantScope, Grants, Renamed } from "../grants.ts";
import { changedKeys, readsLabel, readsPath, readsSubject } from "./condition-inputs.ts";
import { type RequireHeldOptions, createRequireHeld } from "./require-held.ts";
import {
  type HeldGrant,
  heldByAll,
  heldByGroup,
  heldByMember,
  heldConditionally,
  readRolePermissions,
} from "./store.ts";

export function createEscalationGuard(options: RequireHeldOptions): Grants {
  const requireHeld = createRequireHeld(options);

  return {
    async requireMayGrant(transaction, role, scope) {
      const granted = "predefined" in role ? role : { permissions: await readRolePermissions(transaction, role.id) };
      const rule = "a role can be granted only by who holds all of it there";
      await requireHeld(transaction, [{ role: granted, scope }], rule);
    },

    async requireMayDefine(transaction, permissions) {
      const scope = { kind: "org", id: transaction.org.id } as const;
      const rule = "a role can be given only permissions that one holds on the org";
      await requireHeld(transaction, [{ role: { permissions }, scope }], rule);
    },

    async requireMayJoin(transaction, groupId) {
      const held = await heldByGroup(transaction, groupId);
      await requireHeld(transaction, held, "a group can be joined only by the hand of who holds all that it holds");
    },

    async requireMayActAs(transaction, memberId) {
      if (memberId === transaction.author.actorId) return;
      const held = await heldByMember(transaction, memberId);
      const rule = "a key of another member can be made only by who holds all that this member holds";
      await requireHeld(transaction, held, rule);
    },

    async requireMayRename(transaction, { type, id, scope }) {
      const around = await heldConditionally(transaction, scope);
      const ofSubject = await heldBySubject(transaction, type, id);
      const known = [
        ...around.filter(({ condition }) => readsPath(condition)).map((grant) => heldIn(scope, grant)),
        ...ofSubject.filter(({ condition }) => readsSubject(condition)),
      ];
      const rule = "what conditions know by its name can be renamed only by who holds all that they are about";
      await requireHeld(transaction, known, rule);
    },

    async requireMayRelabel(transaction, scope, before, after) {
      const labels = changedKeys(before, after);
      if (labels.length === 0) return;
      const around = await heldConditionally(transaction, scope);
      // The labels of an org are its own: its projects have others.
      const reading = around.filter(
        ({ condition, scope: { kind } }) =>
          (scope.kind !== "org" || kind !== "project") && labels.some((label) => readsLabel(condition, label)),
      );
      const rule = "labels that conditions look at can be changed only by who holds all that they are about";
      const known = reading.map((grant) => heldIn(scope, grant));
      await requireHeld(transaction, known, rule);
    },
  };
}

/** What is held above a scope has to be held only in it. */
function heldIn(scope: GrantScope, grant: HeldGrant): HeldGrant {
  return grant.scope.kind === "project" ? grant : { ...grant, scope };
}

/** What conditions may give by the path of the one who asks. */
function heldBySubject(transaction: OrgTransaction, type: Renamed["type"], id: string): Promise<HeldGrant[]> {
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
