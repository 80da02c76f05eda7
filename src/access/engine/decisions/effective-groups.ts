import { getField, setField } from "../tables/int-records.ts";
import type { EdgeLists } from "../tables/edge-lists.ts";
import { type EntityTable, isLiveEntity } from "../tables/entity-table.ts";
import type { GroupClosure } from "../tables/group-closure.ts";
import {
  groupMarkField,
  groupOuterField,
  groupScopeBitsField,
  memberScopeBitsField,
} from "../tables/subject-fields.ts";
import { type Subject, isGroup, recordOf, subjectNumber } from "../tables/subject.ts";

/**
 * The subjects whose bindings apply to a subject: the subject itself, its groups, and the groups above those. A snapshot has
 * one instance, so that a decision allocates nothing. Each `collect` replaces the result of the previous one.
 */
export interface EffectiveGroups {
  /** Collects the subjects and returns how many there are. */
  readonly collect: (subject: Subject, now: number) => number;
  /** Forgets what was collected, and removes its marks in the tables. */
  readonly clear: () => void;
  /** Returns the number of a collected subject. */
  readonly at: (index: number) => number;
  readonly has: (subject: number) => boolean;
  /** Returns the bits of the scopes in which a collected subject may be bound. None is bound in other scopes. */
  readonly scopeBits: () => number;
}

interface GroupTables {
  readonly members: EntityTable;
  readonly groups: EntityTable;
  readonly memberships: EdgeLists;
  readonly nestings: EdgeLists;
  readonly closure: GroupClosure;
}

export function createEffectiveGroups({
  members,
  groups,
  memberships,
  nestings,
  closure,
}: GroupTables): EffectiveGroups {
  const { records } = groups;
  const found: number[] = [0];
  const direct: number[] = [];
  let count = 0;
  let bits = 0;

  const isMarked = (group: number): boolean => getField(records, group, groupMarkField) !== 0;

  function clear(): void {
    for (let index = 0; index < count; index++) {
      const subject = found[index] as number;
      if (isGroup(subject)) setField(records, recordOf(subject), groupMarkField, 0);
    }
    count = 0;
    bits = 0;
  }

  function add(group: number): void {
    setField(records, group, groupMarkField, 1);
    bits |= getField(records, group, groupScopeBitsField);
    found[count++] = subjectNumber("group", group);
  }

  function addAbove(group: number): void {
    const above = closure.above(group);
    for (let index = 0; index < above.length; index++) {
      const outer = above[index] as number;
      if (getField(records, outer, groupMarkField) === 0) add(outer);
    }
  }

  /** Adds the group and all groups above it. If a group was added before, so were all groups above it. */
  function addGroup(first: number): void {
    let group = first;
    while (getField(records, group, groupMarkField) === 0 && isLiveEntity(records, group)) {
      add(group);
      const nesting = getField(records, group, groupOuterField);
      if (nesting === 0) return;
      // Most groups are nested in at most one other, which needs no list of all groups above.
      if (nestings.nextFrom(nesting) !== 0) {
        addAbove(group);
        return;
      }
      group = nestings.groupOf(nesting);
    }
  }

  return {
    collect({ kind, record }, now) {
      clear();
      if (kind === "group") {
        addGroup(record);
      } else {
        found[count++] = subjectNumber("member", record);
        bits = getField(members.records, record, memberScopeBitsField);
        const length = memberships.targetsAt(record, now, direct);
        for (let index = 0; index < length; index++) addGroup(direct[index] as number);
      }
      return count;
    },

    clear,
    at: (index) => found[index] as number,
    has: (subject) => (isGroup(subject) ? isMarked(recordOf(subject)) : subject === found[0] && count > 0),
    scopeBits: () => bits,
  };
}
