import { expect, test } from "vitest";
import { createFairMemory } from "../../src/standard-methods/read/fair-memory.ts";

test("there is room for a value where others were not used for long enough, in its org and in all", () => {
  let now = 0;
  const memory = createFairMemory<string>(4_000, () => now);
  const hasRoom = (key: string, bytes: number, orgId = "a"): boolean => memory.hasRoom(key, orgId, bytes, 10);
  memory.keep("small", "a", "", 10);
  now = 10;
  memory.keep("one", "a", "", 490);
  memory.keep("other", "a", "", 490);
  expect(hasRoom("new", 10)).toBe(true);
  expect(hasRoom("new", 20)).toBe(true);
  // The small one alone would not do.
  expect(hasRoom("new", 21)).toBe(false);
  expect(hasRoom("one", 500)).toBe(true);
  expect(hasRoom("one", 511)).toBe(false);
  now = 20;
  memory.touch("one");
  expect(hasRoom("new", 510)).toBe(true);
  expect(hasRoom("new", 511)).toBe(false);
  memory.touch("other");
  memory.touch("small");
  expect(hasRoom("new", 1_000)).toBe(false);
  now = 30;
  expect(hasRoom("new", 1_000)).toBe(true);
  expect(hasRoom("new", 1_001)).toBe(false);

  for (const org of ["b", "c", "d"]) memory.keep(org, org, "", 1_000);
  expect(hasRoom("new", 10, "e")).toBe(true);
  expect(hasRoom("new", 1_000, "e")).toBe(true);
  for (const key of ["one", "other", "small"]) memory.touch(key);
  expect(hasRoom("new", 10, "e")).toBe(true);
  expect(hasRoom("new", 11, "e")).toBe(false);
});

test("a value that is kept takes the place of those that were used least recently", () => {
  const memory = createFairMemory<string>(400);
  for (const key of ["1", "2"]) memory.keep(key, "a", key, 50);
  memory.touch("1");
  memory.keep("3", "a", "3", 50);
  expect(["1", "2", "3"].map((key) => memory.get(key))).toEqual(["1", undefined, "3"]);
  memory.keep("1", "a", "large", 101);
  expect(memory.get("1")).toBeUndefined();
  memory.keep("1", "a", "again", 100);
  expect(memory.get("1")).toBe("again");
  expect(memory.get("3")).toBeUndefined();
});
