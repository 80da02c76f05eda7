// The large tables of a snapshot are records of a few 32-bit integers, side by side in memory, so that related fields are read
// together and the garbage collector has nothing to visit. Records are in chunks: growing adds a chunk and never copies more
// than one.

/** A growing set of records with the same number of fields. There is no record 0, so a field of 0 refers to nothing. */
export interface IntRecords {
  /** Adds a record of zeros, in the place of a removed record if there is one. */
  readonly add: () => number;
  /** Frees the record's place for reuse. Nothing may refer to it any longer. */
  readonly remove: (record: number) => void;
  /** For `getField` and `setField`. */
  readonly chunks: Int32Array[];
  readonly width: number;
  /** The number of records. */
  readonly count: () => number;
  /** All records are below this number. */
  readonly end: () => number;
  readonly bytes: () => number;
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
export function setField({ chunks, width }: IntRecords, record: number, field: number, value: number): void {
  (chunks[record >>> chunkBits] as Int32Array)[(record & recordOfChunk) * width + field] = value;
}

export function createIntRecords(width: number): IntRecords {
  // The first chunk starts small, because most orgs are small, and doubles up to the size of the others.
  const chunks = [new Int32Array(firstCapacity * width)];
  let capacity = firstCapacity;
  let next = 1;
  let count = 0;
  /** The first removed record. Removed records are a list through their first field. */
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
