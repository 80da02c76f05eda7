import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createLookAgain } from "../../console/src/screens/operations/create-look-again.ts";

const running = { done: false };

const ask = createLookAgain(({ done }: { done: boolean }) => !done);

const timeAfter = (dataUpdateCount: number, data = running, error: unknown = null) =>
  ask({ state: { data, error, dataUpdateCount } });

test("what does not move is asked for ever later, and what moves soon", () => {
  expect([1, 2, 3, 4, 7, 10, 100].map((count) => timeAfter(count))).toEqual([
    2_000, 2_000, 2_000, 4_000, 8_000, 16_000, 60_000,
  ]);
  expect(timeAfter(101, { done: false })).toBe(2_000);
});

test("what is done, unknown or refused is not asked for again", () => {
  expect(timeAfter(1, { done: true })).toBe(false);
  expect(ask({ state: { data: undefined, error: null, dataUpdateCount: 0 } })).toBe(false);
  expect(timeAfter(1, running, new ConnectError("no", Code.PermissionDenied))).toBe(false);
  expect(timeAfter(1, running, new ConnectError("later", Code.Unavailable))).toBe(2_000);
});
