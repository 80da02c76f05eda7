import { expect, test } from "vitest";
import { createAgeClock, createElapsedClock } from "../../src/database/age-clock.ts";
import { createTestClocks } from "../support/clocks.ts";

const hourMs = 3_600_000;

test("of many jumps of the clock of the machine, none is forgotten", () => {
  const clocks = createTestClocks();
  const clock = createAgeClock(clocks);
  const from = clock.observe();
  for (let count = 0; count < 250; count++) {
    clocks.pass(1_000);
    clocks.set(hourMs);
    clock.observe();
  }
  expect(clock.elapsed(from, clock.observe())).toBe(250 * (hourMs + 1_000));
});

test("a jump counts for what was before it, and not for what came after", () => {
  const clocks = createTestClocks();
  const clock = createAgeClock(clocks);
  const before = clock.observe();
  clocks.set(hourMs);
  clocks.pass(10);
  const after = clock.observe();
  expect(clock.elapsed(before, after)).toBe(hourMs + 10);
  expect(clock.elapsed(before - 1, before)).toBe(1);
  expect(clock.elapsed(after, after + 1)).toBe(1);
});

test("a clock that is set back hides no jump that follows", () => {
  const clocks = createTestClocks();
  const elapsed = createElapsedClock(clocks);
  clocks.pass(10);
  clocks.set(-24 * hourMs);
  expect(elapsed()).toBe(10);
  clocks.pass(10);
  clocks.set(hourMs);
  expect(elapsed()).toBe(hourMs + 20);
});

test("a process that had to wait between reading both clocks has seen no jump", () => {
  const clocks = createTestClocks();
  const clock = createAgeClock(clocks);
  const from = clock.observe();
  clocks.pass(1);
  clocks.set(99);
  expect(clock.elapsed(from, clock.observe())).toBe(1);
});
