import type { LogEntry } from "../loading/apply-entry.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { MembershipRow, SubgroupRow } from "../loading/rows.ts";
import { subjectNumber } from "../tables/subject.ts";

type Side = "before" | "after";

/** The scopes in which the access of a subject may change. */
interface Scopes {
  /** Sets that several subjects share. */
  readonly shared: Set<ReadonlySet<number>>;
  readonly own: Set<number>;
}

/** Collects the subjects that changes may affect, and the scopes in which they may. */
export interface AffectedScopes {
  /**
   * Adds what a change affects in the current state of the snapshot, which is the one before or after the changes. What a
   * change creates is found only after it, and what it removes only before it.
   */
  readonly add: (change: LogEntry, side: Side) => void;
  readonly subjects: () => Iterable<number>;
  /** Returns the scopes in which these subjects are affected, each once. */
  readonly of: (subjects: Iterable<number>) => Iterable<number>;
}

export function createAffectedScopes(snapshot: OrgSnapshot): AffectedScopes {
  const { bindings, closure, groups, members, roles } = snapshot;
  const affected = new Map<number, Scopes>();
  /** Cached, because many changes may concern the same group. */
  const around = { before: new Map<number, ReadonlySet<number>>(), after: new Map<number, ReadonlySet<number>>() };

  function scopesOf(subject: number): Scopes {
    let scopes = affected.get(subject);
    if (scopes === undefined) {
      scopes = { shared: new Set(), own: new Set() };
      affected.set(subject, scopes);
    }
    return scopes;
  }

  function addBinding(binding: number): void {
    const cell = bindings.cellOf(binding);
    scopesOf(bindings.subjectOf(cell)).own.add(bindings.scopeOf(cell));
  }

  /** Returns the scopes in which the group, or a group above it, is bound. */
  function scopesAround(group: number, side: Side): ReadonlySet<number> {
    const known = around[side].get(group);
    if (known !== undefined) return known;
    const found = new Set<number>();
    for (const each of [group, ...closure.above(group)]) {
      const first = bindings.firstCellOfSubject(subjectNumber("group", each));
      for (let cell = first; cell !== 0; cell = bindings.nextOfSubject(cell)) found.add(bindings.scopeOf(cell));
    }
    around[side].set(group, found);
    return found;
  }

  return {
    add({ resource_type: type, resource_id: id, before, after }, side) {
      switch (type) {
        case "RoleBinding": {
          const binding = bindings.findById(id);
          if (binding !== 0) addBinding(binding);
          return;
        }
        case "Role": {
          const role = roles.custom.findById(id);
          if (role === 0) return;
          for (let each = bindings.firstOfRole(role); each !== 0; each = bindings.nextOfRole(each)) addBinding(each);
          return;
        }
        case "Group": {
          const group = groups.findById(id);
          if (group !== 0 && after === null)
            scopesOf(subjectNumber("group", group)).shared.add(scopesAround(group, side));
          return;
        }
        case "GroupMember": {
          const { member_id: memberId, group_id: groupId } = (after ?? before) as MembershipRow;
          const [member, group] = [members.findById(memberId), groups.findById(groupId)];
          if (member !== 0 && group !== 0)
            scopesOf(subjectNumber("member", member)).shared.add(scopesAround(group, side));
          return;
        }
        case "Subgroup": {
          const { subgroup_id: innerId, group_id: outerId } = (after ?? before) as SubgroupRow;
          const [inner, outer] = [groups.findById(innerId), groups.findById(outerId)];
          if (inner !== 0 && outer !== 0) scopesOf(subjectNumber("group", inner)).shared.add(scopesAround(outer, side));
        }
      }
    },

    subjects: () => affected.keys(),

    of(subjects) {
      const all = new Set<ReadonlySet<number>>();
      for (const subject of subjects) {
        const scopes = affected.get(subject);
        if (scopes === undefined) continue;
        for (const shared of scopes.shared) all.add(shared);
        if (scopes.own.size > 0) all.add(scopes.own);
      }
      const [first = new Set<number>(), ...others] = all;
      return others.length === 0 ? first : new Set([...all].flatMap((scopes) => [...scopes]));
    },
  };
}
