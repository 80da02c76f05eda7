import { expect, test } from "vitest";
import { createRuns, noteRun } from "../../src/timers/runs.ts";

test("a run counts when it has ended, and as a success only if nothing failed in it", async () => {
  const runs = createRuns();
  await expect(noteRun(runs, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(runs).toMatchObject({ ended: 1, failures: 1, succeededAt: undefined });
  await noteRun(runs, async () => void runs.failures++);
  expect(runs).toMatchObject({ ended: 2, failures: 2, succeededAt: undefined });
  const before = Date.now();
  expect(await noteRun(runs, () => Promise.resolve("done"))).toBe("done");
  expect(runs).toMatchObject({ ended: 3, failures: 2 });
  expect(runs.succeededAt).toBeGreaterThanOrEqual(before);
});
