import { type IntRecords, getField, setField } from "./int-records.ts";

/** The number of fields for a time: milliseconds since 1970 need more than 32 bits. */
export const timeWidth = 2;

const span = 2 ** 32;
/** Beyond any time, in both directions. */
const furthest = 2 ** 62;

/**
 * Returns a time in milliseconds.
 *
 * @param field the first of the two fields.
 */
export function getTime(records: IntRecords, record: number, field: number): number {
  return getField(records, record, field) * span + (getField(records, record, field + 1) >>> 0);
}

/** @param time in milliseconds; Infinity is after any time and -Infinity before it. */
export function setTime(records: IntRecords, record: number, field: number, time: number): void {
  if (Number.isNaN(time)) throw new Error("not a time");
  const bounded = Math.min(Math.max(time, -furthest), furthest);
  setField(records, record, field, Math.floor(bounded / span));
  setField(records, record, field + 1, bounded);
}
