import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createRetry } from "../../src/cli/retry.ts";

const systemError = (code: string) =>
  new ConnectError("broken", Code.Internal, undefined, undefined, Object.assign(new Error(code), { code }));

async function attempt(failures: unknown[], delaysMs = [1, 1, 1]): Promise<{ tries: number; thrown?: unknown }> {
  const retry = createRetry({ delaysMs, signal: new AbortController().signal, onRetry: () => {} });
  let tries = 0;
  try {
    await retry(async () => {
      const failure = failures[tries++];
      if (failure !== undefined) throw failure;
    });
    return { tries };
  } catch (thrown) {
    return { tries, thrown };
  }
}

test.each([
  new ConnectError("", Code.Unavailable),
  new ConnectError("", Code.DeadlineExceeded),
  new ConnectError("", Code.ResourceExhausted),
  new ConnectError("", Code.Aborted),
  systemError("ECONNREFUSED"),
  systemError("ECONNRESET"),
  systemError("EPIPE"),
])("tries again after %s", async (failure) => {
  expect(await attempt([failure, failure])).toEqual({ tries: 3 });
});

test.each([
  new ConnectError("", Code.InvalidArgument),
  new ConnectError("", Code.AlreadyExists),
  new ConnectError("", Code.Unauthenticated),
  systemError("ENOTFOUND"),
  new TypeError("a mistake"),
])("gives up at once after %s", async (failure) => {
  expect(await attempt([failure])).toEqual({ tries: 1, thrown: failure });
});

test("gives up after the last delay", async () => {
  const failure = new ConnectError("", Code.Unavailable);
  expect(await attempt(Array.from({ length: 9 }, () => failure))).toEqual({ tries: 4, thrown: failure });
});

test("does not wait once the signal has fired", async () => {
  const stop = new AbortController();
  const retry = createRetry({ delaysMs: [60_000], signal: stop.signal, onRetry: () => stop.abort() });
  const failure = new ConnectError("", Code.Unavailable);
  await expect(retry(() => Promise.reject(failure))).rejects.toBe(failure);
});
