import type { SnapshotChange } from "./apply-change.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { MembershipRow, SubgroupRow } from "./rows.ts";
import { subjectNumber } from "./subject.ts";

/** Scopes by the subject that may hold something else there than before. */
export type AffectedScopes = Map<number, Set<number>>;

/**
 * Adds whom the changes concern, and where, as the snapshot is. What comes into being is found once it is there, what comes to
 * an end while it still is.
 */
export function addAffectedScopes(
  snapshot: OrgSnapshot,
  changes: readonly SnapshotChange[],
  affected: AffectedScopes,
): void {
  const { bindings, groups, members, roles } = snapshot;
  const ofGroups = new Map<number, readonly number[]>();

  const add = (subject: number, scopes: Iterable<number>): void => {
    const known = affected.get(subject);
    if (known === undefined) affected.set(subject, new Set(scopes));
    else for (const scope of scopes) known.add(scope);
  };

  const addBinding = (binding: number): void => {
    const cell = bindings.cellOf(binding);
    add(bindings.subjectOf(cell), [bindings.scopeOf(cell)]);
  };

  const scopesAround = (group: number): readonly number[] => {
    let found = ofGroups.get(group);
    if (found === undefined) {
      found = scopesOfGroups(snapshot, [group, ...snapshot.closure.above(group)]);
      ofGroups.set(group, found);
    }
    return found;
  };

  for (const { resource_type: type, resource_id: id, before, after } of changes) {
    switch (type) {
      case "RoleBinding": {
        const binding = bindings.findById(id);
        if (binding !== 0) addBinding(binding);
        break;
      }
      case "Role": {
        const role = roles.custom.findById(id);
        if (role === 0) break;
        for (let each = bindings.firstOfRole(role); each !== 0; each = bindings.nextOfRole(each)) addBinding(each);
        break;
      }
      case "Group": {
        const group = groups.findById(id);
        if (group !== 0 && after === null) add(subjectNumber("group", group), scopesAround(group));
        break;
      }
      case "GroupMember": {
        const { member_id: memberId, group_id: groupId } = (after ?? before) as MembershipRow;
        const [member, group] = [members.findById(memberId), groups.findById(groupId)];
        if (member !== 0 && group !== 0) add(subjectNumber("member", member), scopesAround(group));
        break;
      }
      case "Subgroup": {
        const { subgroup_id: innerId, group_id: outerId } = (after ?? before) as SubgroupRow;
        const [inner, outer] = [groups.findById(innerId), groups.findById(outerId)];
        if (inner !== 0 && outer !== 0) add(subjectNumber("group", inner), scopesAround(outer));
      }
    }
  }
}

/** Where any of the groups is bound. */
function scopesOfGroups({ bindings }: OrgSnapshot, groups: readonly number[]): number[] {
  const found = new Set<number>();
  for (const group of groups) {
    const first = bindings.firstCellOfSubject(subjectNumber("group", group));
    for (let cell = first; cell !== 0; cell = bindings.nextOfSubject(cell)) found.add(bindings.scopeOf(cell));
  }
  return [...found];
}
