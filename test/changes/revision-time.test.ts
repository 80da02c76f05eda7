import { expect, test } from "vitest";
import { formatMicroseconds, microsecondsOf, parseMicroseconds } from "../../src/changes/revision-time.ts";

test.each([
  ["1893456000.000000", 0, "2030-01-01T00:00:00.000000Z"],
  ["1893455999.999999", 1, "2030-01-01T00:00:00.000000Z"],
  ["1893456000.000009", 1, "2030-01-01T00:00:00.000010Z"],
  ["1893456000.9", 2_100_001, "2030-01-01T00:00:03.000001Z"],
  ["1893456000", 999, "2030-01-01T00:00:00.000999Z"],
])("the second %s, %i microseconds later, is %s", (seconds, microseconds, time) => {
  const later = microsecondsOf(seconds) + microseconds;
  expect(formatMicroseconds(later)).toBe(time);
  expect(parseMicroseconds(time)).toBe(later);
});
