import { expect, test } from "vitest";
import { isWhole, restOf, runEach } from "../../console/src/ui/many/run-each.ts";

test("what fails does not keep the others from being done, one after the other", async () => {
  const seen: string[] = [];
  const act = async (row: number): Promise<void> => {
    seen.push(`begins ${row}`);
    await Promise.resolve();
    if (row === 2) throw new Error("two is refused");
    seen.push(`ends ${row}`);
  };
  const tried: number[] = [];
  const outcome = await runEach(
    [1, 2, 3],
    act,
    () => false,
    (count) => tried.push(count),
  );
  expect(seen).toEqual(["begins 1", "ends 1", "begins 2", "begins 3", "ends 3"]);
  expect(tried).toEqual([1, 2, 3]);
  expect(outcome).toEqual({ total: 3, done: 2, failures: [{ row: 2, error: new Error("two is refused") }], left: [] });
  expect([isWhole(outcome), restOf(outcome)]).toEqual([false, [2]]);
});

test("what is stopped is left, and can be done later", async () => {
  let done = 0;
  const outcome = await runEach(
    ["a", "b", "c"],
    () => Promise.resolve((done += 1)),
    () => done === 2,
    () => {},
  );
  expect([outcome.done, outcome.left, restOf(outcome)]).toEqual([2, ["c"], ["c"]]);
});
