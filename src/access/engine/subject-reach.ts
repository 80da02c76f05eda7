import { getField, setField } from "./int-records.ts";
import type { EdgeLists } from "./edge-lists.ts";
import { type EntityTable, isLiveEntity } from "./entity-table.ts";
import type { GroupClosure } from "./group-closure.ts";
import { groupMarkField, groupOuterField } from "./subject-fields.ts";
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
}

export function createSubjectReach(groups: EntityTable, memberships: EdgeLists, closure: GroupClosure): SubjectReach {
  const { records } = groups;
  const found: number[] = [0];
  const direct: number[] = [];
  let count = 0;

  const isMarked = (group: number): boolean => getField(records, group, groupMarkField) !== 0;

  function clear(): void {
    for (let index = 0; index < count; index++) {
      const subject = found[index] as number;
      if (isGroup(subject)) setField(records, recordOf(subject), groupMarkField, 0);
    }
    count = 0;
  }

  function addAbove(group: number): void {
    const above = closure.above(group);
    for (let index = 0; index < above.length; index++) {
      const outer = above[index] as number;
      if (getField(records, outer, groupMarkField) !== 0) continue;
      setField(records, outer, groupMarkField, 1);
      found[count++] = subjectNumber("group", outer);
    }
  }

  function addDirect(length: number): void {
    for (let index = 0; index < length; index++) {
      const group = direct[index] as number;
      // What is above a group that was found is found already.
      if (getField(records, group, groupMarkField) !== 0 || !isLiveEntity(records, group)) continue;
      setField(records, group, groupMarkField, 1);
      found[count++] = subjectNumber("group", group);
      if (getField(records, group, groupOuterField) !== 0) addAbove(group);
    }
  }

  return {
    collect({ kind, record }, now) {
      clear();
      if (kind === "group") {
        direct[0] = record;
        addDirect(1);
      } else {
        found[count++] = subjectNumber("member", record);
        addDirect(memberships.targetsAt(record, now, direct));
      }
      return count;
    },

    at: (index) => found[index] as number,
    has: (subject) => (isGroup(subject) ? isMarked(recordOf(subject)) : subject === found[0] && count > 0),
  };
}
