import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createKeptForAWhile } from "../../src/access/snapshots/kept-for-a-while.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const create = (maxBytes = 100) => createKeptForAWhile<number>({ keptMs: 1_000, maxBytes, bytesOf: (value) => value });

test("what is kept goes by time, though nobody asks for anything", () => {
  const kept = create();
  kept.keep("a", 1);
  vi.advanceTimersByTime(600);
  kept.keep("b", 2);
  expect(kept.find("a")).toBe(1);
  vi.advanceTimersByTime(399);
  expect(kept.size()).toBe(2);
  vi.advanceTimersByTime(1);
  expect([kept.size(), kept.find("a"), kept.find("b")]).toEqual([1, undefined, 2]);
  vi.advanceTimersByTime(600);
  expect(kept.size()).toBe(0);
});

test("what is kept again has its time again", () => {
  const kept = create();
  kept.keep("a", 1);
  vi.advanceTimersByTime(900);
  kept.keep("a", 2);
  vi.advanceTimersByTime(900);
  expect(kept.find("a")).toBe(2);
});

test("what was used longest ago makes room, and what alone is too large is not kept", () => {
  const kept = create(10);
  for (const key of ["a", "b", "c"]) kept.keep(key, 3);
  kept.find("a");
  kept.keep("d", 4);
  expect(["a", "b", "c", "d"].map((key) => kept.find(key))).toEqual([3, undefined, 3, 4]);
  kept.keep("e", 11);
  expect(kept.size()).toBe(0);
});
