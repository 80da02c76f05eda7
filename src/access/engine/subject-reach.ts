import { getField, setField } from "./int-records.ts";
import type { EdgeLists } from "./edge-lists.ts";
import { type EntityTable, isLiveEntity } from "./entity-table.ts";
import type { GroupClosure } from "./group-closure.ts";
import { groupMarkField, groupOuterField, groupScopeBitsField, memberScopeBitsField } from "./subject-fields.ts";
import { type Subject, isGroup, recordOf, subjectNumber } from "./subject.ts";

/**
 * Who somebody is when bindings are looked up: the subject, the groups that it is in, and the groups above those. There is
 * one of it in a snapshot, so that a decision allocates nothing; each `collect` replaces what the one before has found.
 */
export interface SubjectReach {
  /** Answers how many there are. */
  readonly collect: (subject: Subject, now: number) => number;
  /** The subject's number. */
  readonly at: (index: number) => number;
  readonly has: (subject: number) => boolean;
  /** The bits of the scopes in which one of them may be bound; in others nobody is. */
  readonly scopeBits: () => number;
}

interface ReachTables {
  readonly members: EntityTable;
  readonly groups: EntityTable;
  readonly memberships: EdgeLists;
  readonly nestings: EdgeLists;
  readonly closure: GroupClosure;
}

export function createSubjectReach({ members, groups, memberships, nestings, closure }: ReachTables): SubjectReach {
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

  /** Adds the group and all above it. What is above a group that was found is found already. */
  function addGroup(first: number): void {
    let group = first;
    while (getField(records, group, groupMarkField) === 0 && isLiveEntity(records, group)) {
      add(group);
      const nesting = getField(records, group, groupOuterField);
      if (nesting === 0) return;
      // Most are nested in one other group at most, which takes no list of all above it.
      if (nestings.nextFrom(nesting) !== 0) {
        addAbove(group);
        return;
      }
      group = nestings.targetOf(nesting);
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

    at: (index) => found[index] as number,
    has: (subject) => (isGroup(subject) ? isMarked(recordOf(subject)) : subject === found[0] && count > 0),
    scopeBits: () => bits,
  };
}
