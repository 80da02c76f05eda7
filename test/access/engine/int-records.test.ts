import { describe, expect, test } from "vitest";
import { createIntRecords, getField, setField } from "../../../src/access/engine/tables/int-records.ts";
import { getTime, setTime } from "../../../src/access/engine/tables/time-field.ts";

const byNumber = (one: number, other: number): number => one - other;

describe("records of integers", () => {
  test("keep their values while they grow over many chunks", () => {
    const records = createIntRecords(3);
    const made = Array.from({ length: 50_000 }, () => records.add());
    for (const record of made)
      for (let field = 0; field < 3; field++) setField(records, record, field, record * 3 + field);
    const wrong = made.filter((record) =>
      [0, 1, 2].some((field) => getField(records, record, field) !== record * 3 + field),
    );
    expect(wrong).toEqual([]);
    expect(new Set(made).size).toBe(made.length);
    expect(made).not.toContain(0);
    expect(Math.max(...made)).toBe(records.end() - 1);
  });

  test("reuse the memory of removed records, set to zero", () => {
    const records = createIntRecords(2);
    const made = Array.from({ length: 100 }, () => records.add());
    for (const record of made) for (const field of [0, 1]) setField(records, record, field, -1);
    const bytes = records.bytes();
    for (const record of made.slice(50)) records.remove(record);
    const again = made.slice(50).map(() => records.add());
    expect(again.toSorted(byNumber)).toEqual(made.slice(50).toSorted(byNumber));
    expect(again.flatMap((record) => [getField(records, record, 0), getField(records, record, 1)])).toEqual(
      again.flatMap(() => [0, 0]),
    );
    expect(getField(records, made[0] ?? 0, 1)).toBe(-1);
    expect(records.bytes()).toBe(bytes);
  });

  test("use little memory for few records, and at most one excess chunk for many", () => {
    const records = createIntRecords(4);
    expect(records.bytes()).toBeLessThan(200);
    for (let count = 0; count < 100_000; count++) records.add();
    expect(records.bytes()).toBeLessThan((100_000 + 16_384) * 16);
  });
});

describe("times in records", () => {
  const now = Date.UTC(2031, 5, 7, 8, 9, 10, 11);
  test.each([0, 1, -1, now, -now, Date.UTC(9999, 11, 31), 2 ** 32 - 1, 2 ** 32, 2 ** 31])("keep %d", (time) => {
    const records = createIntRecords(3);
    const record = records.add();
    setTime(records, record, 1, time);
    expect(getTime(records, record, 1)).toBe(time);
  });

  test("keep -Infinity and Infinity, before and after all times", () => {
    const records = createIntRecords(4);
    const record = records.add();
    setTime(records, record, 0, -Infinity);
    setTime(records, record, 2, Infinity);
    expect(getTime(records, record, 0)).toBeLessThan(Date.UTC(-9999, 0));
    expect(getTime(records, record, 2)).toBeGreaterThan(8.64e15);
  });

  test("reject NaN", () => {
    const records = createIntRecords(2);
    expect(() => setTime(records, records.add(), 0, Date.parse("soon"))).toThrow("not a time");
  });
});
