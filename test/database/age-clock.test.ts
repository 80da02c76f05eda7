import { expect, test } from "vitest";
import { createAgeClock, createElapsedClock } from "../../src/database/age-clock.ts";

const hourMs = 3_600_000;

test("of many jumps of the clock of the machine, none is forgotten", () => {
  let wallMs = 0;
  const clock = createAgeClock(() => wallMs);
  const from = clock.observe();
  for (let count = 0; count < 250; count++) {
    wallMs += hourMs;
    clock.observe();
  }
  expect(clock.elapsed(from, clock.observe())).toBeGreaterThanOrEqual(249 * hourMs);
});

test("a jump counts for what was before it, and not for what came after", () => {
  let wallMs = 0;
  const clock = createAgeClock(() => wallMs);
  const before = clock.observe();
  wallMs += hourMs;
  const after = clock.observe();
  expect(clock.elapsed(before, after)).toBeGreaterThanOrEqual(hourMs - 1_000);
  expect(clock.elapsed(before - 1, before)).toBeLessThan(1_000);
  expect(clock.elapsed(after, after + 1)).toBe(1);
});

test("a clock that is set back hides no jump that follows", () => {
  let wallMs = 0;
  const elapsed = createElapsedClock(() => wallMs);
  wallMs -= 24 * hourMs;
  expect(elapsed()).toBeLessThan(hourMs);
  wallMs += hourMs;
  expect(elapsed()).toBeGreaterThanOrEqual(hourMs - 1_000);
});
