import { expect, test } from "vitest";
import { createPauses } from "../../src/jobs/pauses.ts";

const limits = { firstMs: 10, longestMs: 35 };

test("a pause doubles with each failure in a row, up to a bound, and begins again after a success", () => {
  let now = 0;
  const pauses = createPauses(() => now);
  const wait = (): number => {
    const from = now;
    while (!pauses.isOver("members")) now++;
    return now - from;
  };
  expect(wait()).toBe(0);
  const waits = [1, 2, 3, 4].map(() => {
    pauses.begin("members", limits);
    return wait();
  });
  expect(waits).toEqual([10, 20, 35, 35]);
  pauses.begin("members", { firstMs: 100, longestMs: 200 });
  expect(wait()).toBe(100);
  pauses.forget("members");
  pauses.begin("members", limits);
  expect(wait()).toBe(10);
});

test("failures that are not kept are forgotten", () => {
  const pauses = createPauses(() => 0);
  pauses.begin("members", limits);
  pauses.begin("orgs", limits);
  pauses.keep(["orgs"]);
  expect(["members", "orgs"].filter((name) => pauses.isOver(name))).toEqual(["members"]);
});
