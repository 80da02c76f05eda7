import { expect, test } from "vitest";
import { createPace } from "../../console/src/calls/create-pace.ts";

const times = { soonMs: 400, shortestMs: 1_000, longestMs: 8_000 };

test("what changes after a quiet time is read soon, and what goes on changing ever less often", () => {
  const pace = createPace(times);
  let now = 0;
  const waits: number[] = [];
  for (let reads = 0; reads < 7; reads += 1) {
    const wait = pace(now);
    waits.push(wait);
    // The next change comes at once.
    now += wait + 10;
  }
  expect(waits).toEqual([400, 1_990, 3_990, 7_990, 7_990, 7_990, 7_990]);
  // Nothing changes for a while.
  expect(pace(now + 20_000)).toBe(400);
  expect(pace(now + 20_000 + 400 + 1_500)).toBe(500);
});
