import { expect, test } from "vitest";
import { createHistogram, observe } from "../../src/measures/histogram.ts";

test("a value is counted in the first bucket that it does not exceed, or in the last", () => {
  const histogram = createHistogram([1, 2, 4]);
  for (const value of [0, 1, 1.5, 2, 4, 4.1, 100]) observe(histogram, value);
  expect(histogram.counts).toEqual([2, 2, 1, 2]);
  expect(histogram.sum).toBeCloseTo(112.6);
});
