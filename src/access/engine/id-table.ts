import { createHashIndex } from "./hash-index.ts";
import { type IntRecords, getField, setField } from "./int-records.ts";
import { formatUuid, readUuid } from "./uuid.ts";

/** The fields that records with an id have for it, before all others. */
export const idWidth = 5;
const nextField = 4;

/** Finds records by their id, a UUID. */
export interface IdTable {
  /** 0 when there is no such record, also for what is no UUID. */
  readonly find: (id: string) => number;
  /** @throws Error when the id is no UUID. */
  readonly add: (record: number, id: string) => void;
  readonly remove: (record: number) => void;
  readonly idOf: (record: number) => string;
  /** The order of ids: negative when the first record's id comes before the second one's. */
  readonly compare: (record: number, other: number) => number;
  /** Whether a record's id comes after this one, be there such a record or not. */
  readonly comesAfter: (id: string) => (record: number) => boolean;
  readonly bytes: () => number;
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

  const holds = (record: number): boolean =>
    getField(records, record, 3) === words[3] &&
    getField(records, record, 2) === words[2] &&
    getField(records, record, 1) === words[1] &&
    getField(records, record, 0) === words[0];

  return {
    find(id) {
      if (!readUuid(id, words)) return 0;
      const hash = hashWords(words[0] as number, words[1] as number, words[2] as number, words[3] as number);
      let record = index.first(hash);
      while (record !== 0 && !holds(record)) record = index.next(record);
      return record;
    },

    add(record, id) {
      if (!readUuid(id, words)) throw new Error(`${JSON.stringify(id)} is no UUID`);
      for (let word = 0; word < 4; word++) setField(records, record, word, words[word] as number);
      index.add(record);
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
      if (!readUuid(id, bound)) throw new Error(`${JSON.stringify(id)} is no UUID`);
      return (record) => {
        for (let word = 0; word < 4; word++) {
          const difference = (getField(records, record, word) >>> 0) - ((bound[word] as number) >>> 0);
          if (difference !== 0) return difference > 0;
        }
        return false;
      };
    },

    bytes: () => index.bytes(),
  };
}

/** Most of a UUIDv7 is random, but not all ids are such. */
function hashWords(word0: number, word1: number, word2: number, word3: number): number {
  let hash = Math.imul(word0, 0x85ebca6b) ^ Math.imul(word1, 0xc2b2ae35) ^ Math.imul(word2, 0x27d4eb2f) ^ word3;
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return hash ^ (hash >>> 16);
}
