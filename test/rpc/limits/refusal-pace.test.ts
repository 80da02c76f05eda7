import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRefusalPace } from "../../../src/rpc/limits/refusal-pace.ts";

const open = new AbortController().signal;

/** Refuses calls at once, and returns how long each waits in milliseconds: 0, or a multiple of ten. */
async function waitsOf(pace: ReturnType<typeof createRefusalPace>, keys: readonly string[]): Promise<number[]> {
  const startMs = performance.now();
  return Promise.all(
    keys.map(async (key) => {
      const turn = pace(key, () => open);
      if (turn === undefined) return 0;
      await turn;
      return Math.floor((performance.now() - startMs) / 10) * 10;
    }),
  );
}

test("after a burst, refusals come at their pace and in their order", async () => {
  const pace = createRefusalPace({ perSecond: 50, burst: 2 });
  const waits = await waitsOf(pace, ["a", "a", "a", "a", "a"]);
  expect(waits.slice(0, 2)).toEqual([0, 0]);
  expect(waits[2]).toBeGreaterThanOrEqual(10);
  expect(waits[3]).toBeGreaterThanOrEqual(30);
  expect(waits[4]).toBeGreaterThanOrEqual(50);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
});

test("refusals of others do not wait", async () => {
  const pace = createRefusalPace({ perSecond: 0.1, burst: 1 });
  expect(await waitsOf(pace, ["a", "b", "c"])).toEqual([0, 0, 0]);
});

test("a burst may come again after a pause", () => {
  let now = 0;
  const pace = createRefusalPace({ perSecond: 100, burst: 3, clock: () => now });
  const countAtOnce = (): number =>
    [1, 2, 3, 4, 5].filter(() => pace("a", () => AbortSignal.abort()) === undefined).length;
  expect(countAtOnce()).toBe(3);
  now = 20;
  expect(countAtOnce()).toBe(0);
  now = 1_000;
  expect(countAtOnce()).toBe(3);
});

test("a call that ends waits no longer", async () => {
  const pace = createRefusalPace({ perSecond: 0.1, burst: 1 });
  const call = new AbortController();
  expect(pace("a", () => open)).toBeUndefined();
  const turn = pace("a", () => call.signal);
  call.abort();
  await expect(turn).resolves.toBeUndefined();
});

test("calls that ended do not make later ones wait for more than two seconds", async () => {
  let now = 0;
  const pace = createRefusalPace({ perSecond: 1, burst: 1, clock: () => now });
  for (let call = 0; call < 100; call++) void pace("a", () => AbortSignal.abort());
  now = 3_000;
  expect(pace("a", () => open)).toBeUndefined();
  await sleep(0);
});
