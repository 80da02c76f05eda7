import { createHashIndex } from "./hash-index.ts";
import { type IntRecords, getField, setField } from "./int-records.ts";
import type { StoredPart } from "./stored-part.ts";
import { createTextStore, hashText } from "./text-store.ts";

/** The number of fields for the name. */
export const nameWidth = 3;

/** Finds records by name. Names are not empty. */
export interface NameTable {
  /** Returns 0 if there is no such record. */
  readonly find: (name: string) => number;
  /** Sets the name of the record, and replaces an existing one. */
  readonly set: (record: number, name: string) => void;
  /** Sets the names of records that have none. */
  readonly addAll: (added: readonly number[], names: readonly string[]) => void;
  readonly clear: (record: number) => void;
  /** Returns an empty text if the record has no name. */
  readonly nameOf: (record: number) => string;
  /** Reserves room for this many names. Has no effect once there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** @param firstField the first of `nameWidth` fields that the table may use. */
export function createNameTable(records: IntRecords, firstField: number): NameTable {
  const startField = firstField;
  const lengthField = firstField + 1;
  const texts = createTextStore();
  const startOf = (record: number): number => getField(records, record, startField);
  const lengthOf = (record: number): number => getField(records, record, lengthField);
  const index = createHashIndex(records, firstField + 2, (record) => texts.hash(startOf(record), lengthOf(record)));

  function write(record: number, name: string): void {
    setField(records, record, startField, texts.add(name));
    setField(records, record, lengthField, name.length);
  }

  function clear(record: number): void {
    if (lengthOf(record) === 0) return;
    index.remove(record);
    texts.remove(startOf(record), lengthOf(record));
    setField(records, record, lengthField, 0);
  }

  return {
    find(name) {
      let record = index.first(hashText(name));
      while (record !== 0 && !texts.equals(startOf(record), lengthOf(record), name)) record = index.next(record);
      return record;
    },

    set(record, name) {
      refuseEmpty(name);
      if (texts.equals(startOf(record), lengthOf(record), name)) return;
      clear(record);
      write(record, name);
      index.add(record);
    },

    addAll(added, theirNames) {
      theirNames.forEach(refuseEmpty);
      added.forEach((record, place) => write(record, theirNames[place] as string));
      index.addAll(added);
    },

    clear,
    nameOf: (record) => texts.read(startOf(record), lengthOf(record)),
    reserve: index.reserve,
    bytes: () => texts.bytes() + index.bytes(),
    parts: () => [...texts.parts(), ...index.parts()],
  };
}

function refuseEmpty(name: string): void {
  if (name === "") throw new Error("a name must not be empty");
}
