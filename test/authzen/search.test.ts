import { expect, test } from "vitest";
import { findAllowed } from "../../src/authzen/search.ts";

test("actions are searched for one in a step, and no further than the page", () => {
  const asked: string[] = [];
  const isAllowed = (name: string) => asked.push(name) > 0 && name !== "c";
  const steps = findAllowed(["a", "b", "c", "d", "e", "f"], "a", 3, isAllowed);
  const seen: number[] = [];
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) seen.push(asked.length);
  expect(step.value).toEqual(["b", "d", "e"]);
  // The name of the page before is passed over.
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});
