import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { repeat } from "../../src/timers/repeat.ts";

const hour = 3_600_000;
const noErrors = (error: unknown): void => expect.unreachable(String(error));

test("a run that takes longer than the interval skips the runs that would start meanwhile", async () => {
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const run = async (): Promise<void> => {
    if (++runs === 1) await release.promise;
  };
  const repetition = repeat(run, { intervalMs: 50, onError: noErrors });
  onTestFinished(() => repetition.close());
  await sleep(500);
  expect(runs).toBe(1);
  release.resolve();
  // Runs that had been queued would start before the next tick.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  expect(runs).toBe(1);
  await expect.poll(() => runs, { interval: 5 }).toBeGreaterThan(1);
});

test("close waits for the run in progress, and no other starts", async () => {
  const release = Promise.withResolvers<void>();
  let started = 0;
  const events: string[] = [];
  const run = async (): Promise<void> => {
    started++;
    await release.promise;
    events.push("ended");
  };
  const repetition = repeat(run, { intervalMs: 50, onError: noErrors });
  await expect.poll(() => started, { interval: 5 }).toBe(1);
  // Some ticks pass during the run.
  await sleep(200);
  const closed = repetition.close().then(() => events.push("closed"));
  await sleep(100);
  release.resolve();
  await closed;
  expect([started, events]).toEqual([1, ["ended", "closed"]]);
  await sleep(200);
  expect(started).toBe(1);
});

test("a run is told to end when it is closed, and what it fails with then is not reported", async () => {
  const started = Promise.withResolvers<void>();
  const run = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("cut")));
      started.resolve();
    });
  const repetition = repeat(run, { intervalMs: 10, onError: noErrors });
  await started.promise;
  await repetition.close();
});

test("failures are reported, and the next run starts", async () => {
  const errors: unknown[] = [];
  let runs = 0;
  const run = (): Promise<never> => Promise.reject(new Error(`failure ${++runs}`));
  const repetition = repeat(run, { intervalMs: 10, onError: (error) => errors.push(error) });
  onTestFinished(() => repetition.close());
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  expect(errors.slice(0, 2)).toEqual([new Error("failure 1"), new Error("failure 2")]);
});

test("runs that are asked for run one after the other, and those that wait when it is closed do not start", async () => {
  const events: string[] = [];
  let runs = 0;
  const run = async (): Promise<number> => {
    const own = ++runs;
    events.push(`${own} starts`);
    await sleep(20);
    events.push(`${own} ends`);
    return own;
  };
  const repetition = repeat(run, { intervalMs: hour, onError: noErrors });
  expect(await Promise.all([repetition.runOnce(), repetition.runOnce()])).toEqual([1, 2]);
  const last = repetition.runOnce();
  const waiting = repetition.runOnce().catch((error: unknown) => error);
  await sleep(0);
  await repetition.close();
  expect(await last).toBe(3);
  expect(await waiting).toMatchObject({ name: "AbortError" });
  await expect(repetition.runOnce()).rejects.toMatchObject({ name: "AbortError" });
  expect(events).toEqual([1, 2, 3].flatMap((own) => [`${own} starts`, `${own} ends`]));
});
