import { type IntRecords, createIntRecords, getField, setField } from "./int-records.ts";
import { type StoredPart, createNumbersPart } from "./stored-part.ts";

/**
 * Finds records by a hash of their contents: `for (let r = index.first(hash); r !== 0; r = index.next(r))` walks through the
 * candidates.
 *
 * This is linear hashing (Litwin 1980): with each new record some buckets are split in two, in turn, so that the number of
 * buckets keeps up with the number of records and no insertion ever rebuilds the table. Buckets are chains through a field of
 * the records, so a removal leaves no tombstone.
 */
export interface HashIndex {
  readonly first: (hash: number) => number;
  readonly next: (record: number) => number;
  readonly add: (record: number) => void;
  /** Adds many records. No iteration of the loop depends on the one before, so that several wait for memory at once. */
  readonly addAll: (added: readonly number[]) => void;
  readonly remove: (record: number) => void;
  /** Reserves room for this many records, which saves the splits. Has no effect once there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** The number of buckets for each record. With two, a lookup finds an existing record first in three of four cases. */
const bucketsOfRecord = 2;

/**
 * @param nextField the field of the records that the index may use.
 * @param hashOf returns the hash of a record, 32 bits, the same from its insertion to its removal. The low bits select the
 *   bucket.
 */
export function createHashIndex(records: IntRecords, nextField: number, hashOf: (record: number) => number): HashIndex {
  const buckets = createIntRecords(1);
  let count = 0;
  /** The number of buckets. A hash whose low bits select a bucket that does not exist yet uses one bit less. */
  let bucketCount = 1;
  let mask = 0;
  buckets.add();

  /** Returns the record of the bucket: bucket n is the record n + 1. */
  function bucketOf(hash: number): number {
    const bucket = hash & mask;
    return (bucket < bucketCount ? bucket : bucket & (mask >>> 1)) + 1;
  }

  function push(bucket: number, record: number): void {
    setField(records, record, nextField, getField(buckets, bucket, 0));
    setField(buckets, bucket, 0, record);
  }

  function split(): void {
    if (bucketCount > mask) mask = mask * 2 + 1;
    bucketCount++;
    const target = buckets.add();
    const source = ((target - 1) & (mask >>> 1)) + 1;
    let record = getField(buckets, source, 0);
    setField(buckets, source, 0, 0);
    while (record !== 0) {
      const next = getField(records, record, nextField);
      push(bucketOf(hashOf(record)), record);
      record = next;
    }
  }

  return {
    first: (hash) => getField(buckets, bucketOf(hash), 0),
    next: (record) => getField(records, record, nextField),

    add(record) {
      push(bucketOf(hashOf(record)), record);
      count++;
      while (bucketCount < count * bucketsOfRecord) split();
    },

    addAll(added) {
      count += added.length;
      while (bucketCount < count * bucketsOfRecord) split();
      for (const record of added) push(bucketOf(hashOf(record)), record);
    },

    remove(record) {
      const bucket = bucketOf(hashOf(record));
      const after = getField(records, record, nextField);
      let current = getField(buckets, bucket, 0);
      if (current === record) {
        setField(buckets, bucket, 0, after);
      } else {
        while (current !== 0 && getField(records, current, nextField) !== record)
          current = getField(records, current, nextField);
        if (current === 0) throw new Error("the record is not in the index");
        setField(records, current, nextField, after);
      }
      count--;
    },

    reserve(total) {
      if (count > 0) return;
      for (; bucketCount < total * bucketsOfRecord; bucketCount++) buckets.add();
      mask = 2 ** Math.ceil(Math.log2(bucketCount)) - 1;
    },

    bytes: () => buckets.bytes(),

    parts: () => [
      ...buckets.parts(),
      ...createNumbersPart(
        "hash index",
        () => [count, bucketCount, mask] as const,
        (numbers) => ([count, bucketCount, mask] = numbers),
      ),
    ],
  };
}
