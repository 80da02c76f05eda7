import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { runLimited } from "../../src/cli/run-limited.ts";

const never = new AbortController().signal;
const items = Array.from({ length: 20 }, (_, index) => index);

test("runs every item once, so many at a time and no more", async () => {
  const seen: number[] = [];
  let running = 0;
  let most = 0;
  await runLimited(items, 3, never, async (item) => {
    most = Math.max(most, ++running);
    await turn();
    seen.push(item);
    running--;
  });
  expect(seen.toSorted((one, other) => one - other)).toEqual(items);
  expect(most).toBe(3);
});

test("after a failure takes nothing more, waits for what is in flight and throws the failure", async () => {
  const ended: number[] = [];
  const running = runLimited(items, 3, never, async (item) => {
    if (item === 1) throw new Error("no");
    await turn();
    ended.push(item);
  });
  await expect(running).rejects.toThrow("no");
  expect(ended).toEqual([0, 2]);
});

test("takes nothing more once the signal has fired", async () => {
  const stop = new AbortController();
  const ended: number[] = [];
  await runLimited(items, 2, stop.signal, async (item) => {
    if (item === 4) stop.abort();
    await turn();
    ended.push(item);
  });
  expect(ended.length).toBeLessThan(7);
  expect(ended).toContain(4);
});
