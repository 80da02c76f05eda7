import { expect, test } from "vitest";
import { createTurns } from "../../src/scheduling/turns.ts";

test("a turn that has taken long ends for all that work in it", async () => {
  expect(createTurns(60_000)()).toBeUndefined();
  const turns = createTurns(-1);
  const first = turns();
  expect(turns()).toBe(first);
  await first;
  expect(turns()).not.toBe(first);
});
