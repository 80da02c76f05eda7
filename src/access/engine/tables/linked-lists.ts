import { type IntRecords, getField, setField } from "./int-records.ts";

/** Lists of records, one for each owner, doubly linked so that a record is removed without a walk. */
export interface LinkedLists {
  /** Returns the first record of the owner's list; 0 if there is none. */
  readonly first: (owner: number) => number;
  /** Returns the record after this one; 0 at the end. */
  readonly next: (record: number) => number;
  readonly add: (owner: number, record: number) => void;
  readonly remove: (owner: number, record: number) => void;
}

export interface Field {
  readonly records: IntRecords;
  readonly field: number;
}

/**
 * @param head the field in which owners keep the first record of their list.
 * @param links the field in which records keep the next record of their list. The field after it holds the previous one.
 */
export function createLinkedLists(head: Field, links: Field): LinkedLists {
  const { records: owners, field: firstField } = head;
  const { records, field: nextField } = links;
  const previousField = nextField + 1;

  return {
    first: (owner) => getField(owners, owner, firstField),
    next: (record) => getField(records, record, nextField),

    add(owner, record) {
      const first = getField(owners, owner, firstField);
      setField(records, record, nextField, first);
      setField(records, record, previousField, 0);
      if (first !== 0) setField(records, first, previousField, record);
      setField(owners, owner, firstField, record);
    },

    remove(owner, record) {
      const next = getField(records, record, nextField);
      const previous = getField(records, record, previousField);
      if (previous === 0) setField(owners, owner, firstField, next);
      else setField(records, previous, nextField, next);
      if (next !== 0) setField(records, next, previousField, previous);
    },
  };
}
