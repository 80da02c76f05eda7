import { expect, test } from "vitest";
import { whenReady } from "../../src/scheduling/when-ready.ts";

test("goes on at once with a value", () => {
  expect(whenReady(2, (value) => value + 1)).toBe(3);
});

test("waits for a promise, of the value or of the result", async () => {
  const later = whenReady(Promise.resolve(2), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(3);
  expect(await whenReady(2, (value) => Promise.resolve(value + 1))).toBe(3);
});

test("does not go on after a failure", async () => {
  let hasGoneOn = false;
  const failing = whenReady(Promise.reject(new Error("unreadable")), () => (hasGoneOn = true));
  await expect(failing).rejects.toThrow("unreadable");
  expect(hasGoneOn).toBe(false);
});
