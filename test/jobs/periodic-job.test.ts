import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createLooks } from "../../src/jobs/looks.ts";
import { createPeriodicJob } from "../../src/jobs/periodic-job.ts";
import { repeat } from "../../src/timers/repeat.ts";

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

test("a job with looks searches only when one is due: after a write, or when what it has seen is due", async () => {
  let [searches, ticks, writes, nowMs] = [0, 0, 0, 0];
  const looks = createLooks({ writes: () => writes, clock: () => nowMs });
  const job = createPeriodicJob({
    find: () => Promise.resolve({ items: [], nextInMs: ++searches === 1 ? 500 : Infinity }),
    work: () => Promise.resolve(0),
    intervalMs: 5,
    looks,
    logger: pino({ enabled: false }),
    failure: "failed to try",
  });
  onTestFinished(() => job.close());
  const ticking = repeat(async () => void ticks++, { intervalMs: 5, onError: () => {} });
  onTestFinished(() => ticking.close());
  /** Waits for some more times at which it would search without looks. */
  const searchesAfterTicks = async (): Promise<number> => {
    const end = ticks + 10;
    await expect.poll(() => ticks, { interval: 5 }).toBeGreaterThan(end);
    return searches;
  };
  expect(await searchesAfterTicks()).toBe(1);
  nowMs = 499;
  expect(await searchesAfterTicks()).toBe(1);
  nowMs = 500;
  expect(await searchesAfterTicks()).toBe(2);
  writes++;
  expect(await searchesAfterTicks()).toBe(3);
});

test.each([
  ["however long nothing was found before", {}],
  ["however rarely it looks otherwise", { firstMs: 6 * 3_600_000, longestMs: 6 * 3_600_000 }],
])("a search that fails is tried again soon, %s", async (_title, times) => {
  let [searches, writes, nowMs] = [0, 0, 0];
  const looks = createLooks({ writes: () => writes, clock: () => nowMs, ...times });
  const job = createPeriodicJob({
    find: () => (writes === 1 && ++searches === 1 ? Promise.reject(new Error("lost")) : Promise.resolve({ items: [] })),
    work: () => Promise.resolve(0),
    intervalMs: 3_600_000,
    looks,
    logger: pino({ enabled: false }),
    failure: "failed to try",
  });
  onTestFinished(() => job.close());
  for (; nowMs < 300_000; nowMs += 1_000) if (looks.isDue()) await job.runOnce();
  writes++;
  await expect(job.runOnce()).rejects.toThrow("lost");
  expect(looks.isDue()).toBe(false);
  nowMs += 1_000;
  expect(looks.isDue()).toBe(true);
});
