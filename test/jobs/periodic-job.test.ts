import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createPeriodicJob } from "../../src/jobs/periodic-job.ts";

test("an item that fails is logged, and does not hold up the others", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const worked: string[] = [];
  const job = createPeriodicJob({
    find: () => Promise.resolve({ items: ["first", "broken", "last"] }),
    work: async (item) => {
      if (item === "broken") throw new Error("refused");
      return worked.push(item);
    },
    intervalMs: 3_600_000,
    logger,
    failure: "failed to try",
  });
  onTestFinished(() => job.close());
  expect(await job.runOnce()).toBe(3);
  expect(worked).toEqual(["first", "last"]);
  expect(job.runs).toMatchObject({ ended: 1, failures: 1, succeededAt: undefined });
  expect(lines).toMatchObject([{ msg: "failed to try; trying again", item: "broken", err: { message: "refused" } }]);
});

test("no item is worked on after close, and what fails then is not logged", async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const worked: string[] = [];
  const job = createPeriodicJob({
    find: () => Promise.resolve({ items: ["first", "second"] }),
    async work(item, signal) {
      worked.push(item);
      void job.close();
      expect(signal.aborted).toBe(true);
      throw new Error("cut");
    },
    intervalMs: 3_600_000,
    logger,
    failure: "failed to try",
  });
  expect(await job.runOnce()).toBe(0);
  await job.close();
  expect(worked).toEqual(["first"]);
  expect(lines).toEqual([]);
});
