import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createPeriodicJob } from "../../src/jobs/periodic-job.ts";

test("an item that fails is logged, and does not hold up the others", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const worked: string[] = [];
  const job = createPeriodicJob({
    find: () => Promise.resolve(["first", "broken", "last"]),
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
  expect(lines).toMatchObject([{ msg: "failed to try; trying again", item: "broken", err: { message: "refused" } }]);
});
