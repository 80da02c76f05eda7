// The large tables of a snapshot are records of a few 32-bit integers, side by side in memory, so that related fields are read
// together and the garbage collector has nothing to visit. Records are in chunks: growing adds a chunk and never copies more
// than one.
import type { StoredPart } from "./stored-part.ts";

/** A growing set of records with the same number of fields. There is no record 0, so a field of 0 refers to nothing. */
export interface IntRecords {
  /** Adds a record of zeros, in the place of a removed record if there is one. */
  readonly add: () => number;
  /** Frees the record's place for reuse. Nothing may refer to it any longer. */
  readonly remove: (record: number) => void;
  /** For `getField` and `setField`. */
  readonly chunks: Int32Array[];
  readonly width: number;
  /** The chunks from which a file is being written. Changes go to copies of them. Undefined if there are none. */
  shared: Set<Int32Array> | undefined;
  readonly count: () => number;
  /** All records are below this number. */
  readonly end: () => number;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** Large, because a decision reads the header of each chunk that it accesses, and few headers stay in the processor's cache. */
const chunkBits = 14;
const recordsOfChunk = 1 << chunkBits;
const recordOfChunk = recordsOfChunk - 1;
const firstCapacity = 8;

/**
 * Returns a field of a record. This function and `setField` are most of what the engine runs. They are functions of the module,
 * not methods of each set of records, because only those are certain to be inlined where the same code reads the sets of
 * several orgs.
 */
export function getField({ chunks, width }: IntRecords, record: number, field: number): number {
  return (chunks[record >>> chunkBits] as Int32Array)[(record & recordOfChunk) * width + field] as number;
}

/** Stores the low 32 bits of the value, as a signed integer. */
export function setField(records: IntRecords, record: number, field: number, value: number): void {
  if (records.shared !== undefined) ownChunk(records, record);
  (records.chunks[record >>> chunkBits] as Int32Array)[(record & recordOfChunk) * records.width + field] = value;
}

/** Replaces the chunk of the record by a copy if it is shared. */
function ownChunk({ chunks, shared }: IntRecords, record: number): void {
  const index = record >>> chunkBits;
  const chunk = chunks[index] as Int32Array;
  if (shared?.has(chunk) === true) chunks[index] = chunk.slice();
}

export function createIntRecords(width: number): IntRecords {
  // The first chunk starts small, because most orgs are small, and doubles up to the size of the others.
  const chunks: Int32Array[] = [new Int32Array(firstCapacity * width)];
  let capacity = firstCapacity;
  let next = 1;
  let count = 0;
  /** The first removed record. Removed records are a list through their first field. */
  let free = 0;

  function chunkOf(record: number): Int32Array {
    if (records.shared !== undefined) ownChunk(records, record);
    return chunks[record >>> chunkBits] as Int32Array;
  }

  function grow(): void {
    if (capacity >= recordsOfChunk) {
      chunks.push(new Int32Array(recordsOfChunk * width));
      capacity += recordsOfChunk;
      return;
    }
    const larger = new Int32Array(capacity * 2 * width);
    larger.set(chunks[0] as Int32Array);
    chunks[0] = larger;
    capacity *= 2;
  }

  const records: IntRecords = {
    shared: undefined,

    add() {
      count++;
      if (free !== 0) {
        const record = free;
        const chunk = chunkOf(record);
        const first = (record & recordOfChunk) * width;
        free = chunk[first] as number;
        chunk[first] = 0;
        return record;
      }
      if (next === capacity) grow();
      return next++;
    },

    remove(record) {
      const chunk = chunkOf(record);
      const first = (record & recordOfChunk) * width;
      chunk.fill(0, first, first + width);
      chunk[first] = free;
      free = record;
      count--;
    },

    chunks,
    width,
    count: () => count,
    end: () => next,
    bytes: () => capacity * width * Int32Array.BYTES_PER_ELEMENT,

    parts: () => [
      {
        kind: "arrays",
        layout: `records of ${width}, ${recordsOfChunk} a chunk`,

        share() {
          if (records.shared !== undefined) throw new Error("the records are shared already");
          records.shared = new Set(chunks);
          const release = (): void => {
            records.shared = undefined;
          };
          return { numbers: [capacity, next, count, free], arrays: [...chunks], release };
        },

        adopt({ numbers, arrays }) {
          [capacity, next, count, free] = numbers as [number, number, number, number];
          chunks.splice(0, Infinity, ...(arrays as readonly Int32Array[]));
        },
      },
    ],
  };
  return records;
}
