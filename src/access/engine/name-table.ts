import { createHashIndex } from "./hash-index.ts";
import { type IntRecords, getField, setField } from "./int-records.ts";
import { createTextStore, hashText } from "./text-store.ts";

/** How many fields a name takes. */
export const nameWidth = 3;

/** Finds records by name. Names are not empty. */
export interface NameTable {
  /** 0 when there is no such record. */
  readonly find: (name: string) => number;
  /** Gives the record this name in place of the one that it may have. */
  readonly set: (record: number, name: string) => void;
  /** Names records that have no name. */
  readonly addAll: (added: readonly number[], names: readonly string[]) => void;
  /** Takes the record's name, if it has one. */
  readonly clear: (record: number) => void;
  /** Empty when the record has none. */
  readonly nameOf: (record: number) => string;
  /** Makes room for so many, before there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
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
  };
}

function refuseEmpty(name: string): void {
  if (name === "") throw new Error("a name must not be empty");
}
