import { type IntRecords, getField, setField } from "./int-records.ts";

/** Lists of records, one for each owner, linked both ways so that a record leaves without a walk. */
export interface LinkedLists {
  /** The first record of the owner's list; 0 when there is none. */
  readonly first: (owner: number) => number;
  /** The record after this one; 0 at the end. */
  readonly next: (record: number) => number;
  /** Puts the record in front. */
  readonly add: (owner: number, record: number) => void;
  readonly remove: (owner: number, record: number) => void;
}

/** A records' field. */
export interface Field {
  readonly records: IntRecords;
  readonly field: number;
}

/**
 * @param head where owners keep the first record of their list.
 * @param links where the records keep the next one of their list; the one before is in the field after that.
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
