import { expect, test } from "vitest";
import { endings, toLocalInput } from "../../console/src/ui/endings.ts";

test("Friday is the next one whose end of work is to come", () => {
  // 27 November 2026 is a Friday.
  const fridayFor = (day: number, hour: number): string =>
    toLocalInput(endings.friday(new Date(2026, 10, day, hour, 30)));
  expect([fridayFor(23, 9), fridayFor(27, 9), fridayFor(27, 18), fridayFor(28, 9)]).toEqual([
    "2026-11-27T18:00",
    "2026-11-27T18:00",
    "2026-12-04T18:00",
    "2026-12-04T18:00",
  ]);
});

test("other ends are at the time of the day at which they were chosen", () => {
  const now = new Date(2026, 11, 31, 7, 5, 42);
  expect([endings.hour, endings.tomorrow, endings.month].map((end) => toLocalInput(end(now)))).toEqual([
    "2026-12-31T08:05",
    "2027-01-01T07:05",
    "2027-01-30T07:05",
  ]);
});

test("a time is written with its seconds if it has some", () => {
  expect(toLocalInput(new Date(2026, 0, 2, 3, 4, 5))).toBe("2026-01-02T03:04:05");
});
