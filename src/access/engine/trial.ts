import type { SnapshotChange } from "./apply-change.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import {
  putGroup,
  putMembership,
  putRole,
  putRoleBinding,
  putSubgroup,
  removeMembership,
  removeSubgroup,
} from "./put-rows.ts";
import type { GroupRow, MembershipRow, RoleBindingRow, RoleRow, SubgroupRow } from "./rows.ts";

/** Looks at a snapshot as it would be after changes that have not been made. */
export type Trial = <Result>(look: () => Result) => Result;

const sometime = new Date(0);

/**
 * Moves the snapshot by the changes and back again. Unlike `applyChange` it takes nothing away for good, so that everything is
 * there afterwards, but for memberships that had expired when they were made anew. It makes no groups and roles: nothing can
 * refer to a new one yet, so nobody gets access by it. Lines about members, projects and orgs are ignored.
 *
 * @param revision the one that the changes follow on.
 * @throws Error when the snapshot is at another one by the time of a look.
 */
export function createTrial(snapshot: OrgSnapshot, revision: string, changes: readonly SnapshotChange[]): Trial {
  const moves = changes.filter(({ resource_type: type, before }) => isReference(type) || before !== null);
  return (look) => {
    if (snapshot.revision !== revision) throw new Error(`the snapshot is at ${snapshot.revision}, not ${revision}`);
    try {
      for (const { resource_type: type, before, after } of moves) move(snapshot, type, before, after);
      return look();
    } finally {
      for (const { resource_type: type, before, after } of moves.toReversed()) move(snapshot, type, after, before);
    }
  };
}

function isReference(type: string): boolean {
  return type === "RoleBinding" || type === "GroupMember" || type === "Subgroup";
}

function move(snapshot: OrgSnapshot, type: string, from: object | null, to: object | null): void {
  switch (type) {
    case "Group":
      return putGroup(snapshot, (to ?? { ...from, delete_time: sometime }) as GroupRow);
    case "Role":
      return putRole(snapshot, (to ?? { ...from, delete_time: sometime }) as RoleRow);
    case "RoleBinding":
      if (to === null) snapshot.bindings.removeById((from as RoleBindingRow).id);
      else putRoleBinding(snapshot, to as RoleBindingRow);
      return;
    case "GroupMember":
      if (to === null) removeMembership(snapshot, from as MembershipRow);
      else putMembership(snapshot, to as MembershipRow);
      return;
    case "Subgroup":
      if (to === null) removeSubgroup(snapshot, from as SubgroupRow);
      else putSubgroup(snapshot, to as SubgroupRow);
  }
}
