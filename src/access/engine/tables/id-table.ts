import { createHashIndex } from "./hash-index.ts";
import { type IntRecords, getField, setField } from "./int-records.ts";
import type { StoredPart } from "./stored-part.ts";
import { type PackedIds, formatUuid, readUuid } from "./uuid.ts";

/** The number of fields for the id, which come first in a record. */
export const idWidth = 5;
const nextField = 4;

/** Finds records by their id, a UUID. */
export interface IdTable {
  /** Returns 0 if there is no such record or the text is not a UUID. */
  readonly find: (id: string) => number;
  /** Writes the result of `find` for each id, in a third of the time: see `addAll` of the hash index. */
  readonly findAll: (ids: PackedIds, found: Int32Array) => void;
  /** @throws Error when the id is not a UUID. */
  readonly add: (record: number, id: string) => void;
  /** Adds records. The id of each is in the row of `ids` that `rows` names at the same index. */
  readonly addAll: (added: readonly number[], ids: PackedIds, rows: readonly number[]) => void;
  readonly remove: (record: number) => void;
  readonly idOf: (record: number) => string;
  /** Compares two records by id: negative if the first record's id comes first. */
  readonly compare: (record: number, other: number) => number;
  /** Returns a predicate for records whose id comes after this one, which need not exist. @throws Error when the id is not a UUID. */
  readonly comesAfter: (id: string) => (record: number) => boolean;
  /** Reserves room for this many records. Has no effect once there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

export function createIdTable(records: IntRecords): IdTable {
  const index = createHashIndex(records, nextField, (record) =>
    hashWords(
      getField(records, record, 0),
      getField(records, record, 1),
      getField(records, record, 2),
      getField(records, record, 3),
    ),
  );
  const words = new Int32Array(4);

  /** The id in `words`. An id is looked up before it is added, and parsed once for both. */
  let lastRead: string | undefined;

  function read(id: string): boolean {
    if (id === lastRead) return true;
    lastRead = readUuid(id, words) ? id : undefined;
    return lastRead !== undefined;
  }

  /** Reports whether the ids at the position hold the record's id. */
  const holds = (record: number, ids: PackedIds, at: number): boolean =>
    getField(records, record, 3) === ids[at + 3] &&
    getField(records, record, 2) === ids[at + 2] &&
    getField(records, record, 1) === ids[at + 1] &&
    getField(records, record, 0) === ids[at];

  return {
    find(id) {
      if (!read(id)) return 0;
      let record = index.first(hashAt(words, 0));
      while (record !== 0 && !holds(record, words, 0)) record = index.next(record);
      return record;
    },

    findAll(ids, found) {
      for (let row = 0; row < found.length; row++) found[row] = index.first(hashAt(ids, row * 4));
      for (let row = 0; row < found.length; row++) {
        let record = found[row] as number;
        while (record !== 0 && !holds(record, ids, row * 4)) record = index.next(record);
        found[row] = record;
      }
    },

    add(record, id) {
      if (!read(id)) throw new Error(`${JSON.stringify(id)} is not a UUID`);
      for (let word = 0; word < 4; word++) setField(records, record, word, words[word] as number);
      index.add(record);
    },

    addAll(added, ids, rows) {
      added.forEach((record, place) => {
        const at = (rows[place] as number) * 4;
        for (let word = 0; word < 4; word++) setField(records, record, word, ids[at + word] as number);
      });
      index.addAll(added);
    },

    remove: (record) => index.remove(record),

    idOf: (record) =>
      formatUuid(
        getField(records, record, 0),
        getField(records, record, 1),
        getField(records, record, 2),
        getField(records, record, 3),
      ),

    compare(record, other) {
      for (let word = 0; word < 4; word++) {
        const difference = (getField(records, record, word) >>> 0) - (getField(records, other, word) >>> 0);
        if (difference !== 0) return difference;
      }
      return 0;
    },

    comesAfter(id) {
      const bound = new Int32Array(4);
      if (!readUuid(id, bound)) throw new Error(`${JSON.stringify(id)} is not a UUID`);
      return (record) => {
        for (let word = 0; word < 4; word++) {
          const difference = (getField(records, record, word) >>> 0) - ((bound[word] as number) >>> 0);
          if (difference !== 0) return difference > 0;
        }
        return false;
      };
    },

    reserve: index.reserve,
    bytes: () => index.bytes(),
    parts: index.parts,
  };
}

function hashAt(ids: PackedIds, at: number): number {
  return hashWords(ids[at] as number, ids[at + 1] as number, ids[at + 2] as number, ids[at + 3] as number);
}

/** Mixes all words: most bits of a UUIDv7 are random, but other UUIDs are possible. */
function hashWords(word0: number, word1: number, word2: number, word3: number): number {
  let hash = Math.imul(word0, 0x85ebca6b) ^ Math.imul(word1, 0xc2b2ae35) ^ Math.imul(word2, 0x27d4eb2f) ^ word3;
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return hash ^ (hash >>> 16);
}
