import type { LogEntry } from "../loading/apply-entry.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type ReferenceType, moveReference, putGroup, putRole } from "../loading/put-rows.ts";
import type { GroupRow, RoleRow } from "../loading/rows.ts";

/** Calls a function while the snapshot is as it would be after changes that have not been made. */
export type DryRun = <Result>(look: () => Result) => Result;

const sometime = new Date(0);

/**
 * Creates a dry run, which applies the changes to the snapshot and reverts them. Unlike `applyEntry`, it removes no entity
 * permanently, so that everything can be restored, except memberships that had expired when a change created them again. It
 * does not create groups and roles: nothing can refer to a new one yet, so that it gives nobody access. It ignores changes of
 * members, projects and orgs.
 *
 * @param revision the revision that the changes follow.
 * @throws Error when the snapshot is at another revision when the dry run is called, or at none.
 */
export function createDryRun(snapshot: OrgSnapshot, revision: string, changes: readonly LogEntry[]): DryRun {
  const moves = changes.filter(({ resource_type: type, before }) => isReference(type) || before !== null);
  return (look) => {
    if (snapshot.revision !== revision)
      throw new Error(`the snapshot is at revision ${snapshot.revision}, not ${revision}`);
    if (snapshot.isChanging()) throw new Error("a change of the snapshot has failed");
    snapshot.beginChange();
    try {
      for (const change of moves) move(snapshot, change, change.before, change.after);
      return look();
    } finally {
      for (const change of moves.toReversed()) move(snapshot, change, change.after, change.before);
      snapshot.endDryRun();
    }
  };
}

function isReference(type: string): type is ReferenceType {
  return type === "RoleBinding" || type === "GroupMember" || type === "Subgroup";
}

function move(
  snapshot: OrgSnapshot,
  { resource_type: type, resource_id: id }: LogEntry,
  from: object | null,
  to: object | null,
): void {
  if (isReference(type)) moveReference(snapshot, type, id, from, to);
  else if (type === "Group") putGroup(snapshot, (to ?? { ...from, delete_time: sometime }) as GroupRow);
  else if (type === "Role") putRole(snapshot, (to ?? { ...from, delete_time: sometime }) as RoleRow);
}
