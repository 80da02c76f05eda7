import type { SnapshotChange } from "./apply-change.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import { type ReferenceType, moveReference, putGroup, putRole } from "./put-rows.ts";
import type { GroupRow, RoleRow } from "./rows.ts";

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
      for (const change of moves) move(snapshot, change, change.before, change.after);
      return look();
    } finally {
      for (const change of moves.toReversed()) move(snapshot, change, change.after, change.before);
    }
  };
}

function isReference(type: string): type is ReferenceType {
  return type === "RoleBinding" || type === "GroupMember" || type === "Subgroup";
}

function move(
  snapshot: OrgSnapshot,
  { resource_type: type, resource_id: id }: SnapshotChange,
  from: object | null,
  to: object | null,
): void {
  if (isReference(type)) moveReference(snapshot, type, id, from, to);
  else if (type === "Group") putGroup(snapshot, (to ?? { ...from, delete_time: sometime }) as GroupRow);
  else if (type === "Role") putRole(snapshot, (to ?? { ...from, delete_time: sometime }) as RoleRow);
}
