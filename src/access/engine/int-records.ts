// Everything in a snapshot is a record of a few 32-bit integers, side by side in memory, so that what belongs together is
// read together and the garbage collector has nothing to look at. Records are in chunks: growing adds a chunk and never
// copies more than one.

/** A growing set of records with the same number of fields. Record 0 is none, so a field of 0 refers to nothing. */
export interface IntRecords {
  /** Makes a record of zeros, where one was removed if there is such a place. */
  readonly add: () => number;
  /** The place may be used again: nothing may refer to it any longer. */
  readonly remove: (record: number) => void;
  /** For `getField` and `setField`. */
  readonly chunks: Int32Array[];
  readonly width: number;
  /** How many records there are. */
  readonly count: () => number;
  /** All records are below this number. */
  readonly end: () => number;
  readonly bytes: () => number;
}

/** Large, because a decision reads the header of each chunk that it looks into: few of those stay in the processor's cache. */
const chunkBits = 14;
const recordsOfChunk = 1 << chunkBits;
const recordOfChunk = recordsOfChunk - 1;
const firstCapacity = 8;

/**
 * This and `setField` are most of what the engine does. They are functions of the module, not of each set of records,
 * because only those are inlined for sure wherever several sets, of several orgs, are read by the same code.
 */
export function getField({ chunks, width }: IntRecords, record: number, field: number): number {
  return (chunks[record >>> chunkBits] as Int32Array)[(record & recordOfChunk) * width + field] as number;
}

/** Keeps the low 32 bits of the value, with their sign. */
export function setField({ chunks, width }: IntRecords, record: number, field: number, value: number): void {
  (chunks[record >>> chunkBits] as Int32Array)[(record & recordOfChunk) * width + field] = value;
}

export function createIntRecords(width: number): IntRecords {
  // The first chunk starts small, for the many orgs that are, and doubles up to the size of the others.
  const chunks = [new Int32Array(firstCapacity * width)];
  let capacity = firstCapacity;
  let next = 1;
  let count = 0;
  /** Removed records are a list through their first field. */
  let free = 0;

  function chunkOf(record: number): Int32Array {
    return chunks[record >>> chunkBits] as Int32Array;
  }

  function grow(): void {
    if (capacity >= recordsOfChunk) {
      chunks.push(new Int32Array(recordsOfChunk * width));
      capacity += recordsOfChunk;
      return;
    }
    const larger = new Int32Array(capacity * 2 * width);
    larger.set(chunkOf(0));
    chunks[0] = larger;
    capacity *= 2;
  }

  return {
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
  };
}
