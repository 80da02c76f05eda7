import { expect, test } from "vitest";
import { waitAtMost } from "../../src/timers/wait-at-most.ts";

const never = new Promise<never>(() => {});

test("a promise is waited for, and for no longer than the time", async () => {
  let isDone = false;
  const soon = new Promise<void>((resolve) =>
    setTimeout(() => {
      isDone = true;
      resolve();
    }, 5),
  );
  await waitAtMost(60_000, soon);
  expect(isDone).toBe(true);
  await waitAtMost(5, never);
});

test("a promise that rejects in time rejects", async () => {
  await expect(waitAtMost(60_000, Promise.reject(new Error("failed")))).rejects.toThrow("failed");
});
