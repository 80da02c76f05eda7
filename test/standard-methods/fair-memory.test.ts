import { expect, test } from "vitest";
import { createFairMemory } from "../../src/standard-methods/read/fair-memory.ts";

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
